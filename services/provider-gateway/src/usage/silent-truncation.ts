export interface TruncationEvidence {
  reportedInput: number;
  /** The usage was reported by the provider, not estimated. */
  reported: boolean;
  /** The caller's own estimate of the same input. */
  estimatedInput: number;
  /** Window that the server is known to serve; 0 = unknown. */
  servedWindow: number;
  stoppedForLength: boolean;
  outputTokens: number;
  contentSeen: boolean;
}

const near = (value: number, target: number): boolean => target > 0 && Math.abs(value - target) <= 0.05 * target;

/** Ollama's default windows by memory, and what older builds of others serve unless told otherwise. */
const usualWindows = [4_096, 8_192, 32_768] as const;

/** Estimates of text that compresses well (long runs of blanks, of one character) are up to twice too high. */
const farBelow = { knownWindow: 0.6, guessedWindow: 0.4 } as const;

export interface TruncationSign {
  why: string;
  /** The window that the figures give away, where none was known. */
  window?: number;
}

/**
 * Signs that a server dropped part of the input without saying so: it read far less than was sent and exactly a window's
 * (or, for Ollama, half a window's) worth of it; it stopped for length without a word; or it claims to have read more
 * than its window holds.
 */
export function silentTruncation(e: TruncationEvidence): TruncationSign | undefined {
  if (e.stoppedForLength && (e.outputTokens === 0 || !e.contentSeen)) return { why: 'stopped for length without any output' };
  if (!e.reported) return undefined;
  if (e.servedWindow > 0 && e.reportedInput > e.servedWindow) return { why: 'reported input is larger than the window' };
  const share = e.servedWindow > 0 ? farBelow.knownWindow : farBelow.guessedWindow;
  if (e.estimatedInput <= 0 || e.reportedInput >= share * e.estimatedInput) return undefined;
  // Half a window plus the kept head is what Ollama leaves of a prompt that is too long.
  const fills = (window: number): boolean => near(e.reportedInput, window) || near(e.reportedInput, window / 2);
  if (e.servedWindow > 0)
    return fills(e.servedWindow) ? { why: 'reported input is far below the estimate and fills the served window' } : undefined;
  const usual = usualWindows.find(fills);
  return usual === undefined
    ? undefined
    : { why: 'reported input is far below the estimate and fills a usual default window', window: usual };
}
