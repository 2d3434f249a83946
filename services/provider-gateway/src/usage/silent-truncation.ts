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

/**
 * Signs that a server dropped part of the input without saying so: it read far less than was sent and exactly a window's
 * (or, for Ollama, half a window's) worth of it; it stopped for length without a word; or it claims to have read more
 * than its window holds. Returns the sign, or undefined.
 */
export function silentTruncation(e: TruncationEvidence): string | undefined {
  if (e.stoppedForLength && (e.outputTokens === 0 || !e.contentSeen)) return 'stopped for length without any output';
  if (!e.reported) return undefined;
  if (e.servedWindow > 0 && e.reportedInput > e.servedWindow) return 'reported input is larger than the window';
  if (e.estimatedInput > 0 && e.reportedInput < 0.6 * e.estimatedInput) {
    // Half a window plus the kept head is what Ollama leaves of a prompt that is too long.
    if (near(e.reportedInput, e.servedWindow) || near(e.reportedInput, e.servedWindow / 2)) {
      return 'reported input is far below the estimate and fills the served window';
    }
    if (e.servedWindow === 0 && [4_096, 2_048, 8_192, 32_768].some((usual) => near(e.reportedInput, usual))) {
      return 'reported input is far below the estimate and equals a usual default window';
    }
  }
  return undefined;
}
