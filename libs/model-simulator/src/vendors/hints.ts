import type { Hint } from './problem';

/** A waiting hint as it appears on the wire: in headers, in the message, in body fields. */
export interface HintOnWire {
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly details?: readonly unknown[];
  readonly fields?: Record<string, number>;
}

const bare: HintOnWire = { headers: {}, text: '' };

/** @param nowMs the server's clock; date forms are absolute. */
export function renderHint(hint: Hint | undefined, nowMs: number): HintOnWire {
  if (hint === undefined) return bare;
  const { seconds } = hint;
  const at = new Date(nowMs + seconds * 1000);
  const header = (name: string, value: string): HintOnWire => ({ headers: { [name]: value }, text: '' });
  switch (hint.form) {
    case 'seconds':
      return header('retry-after', String(Math.ceil(seconds)));
    case 'decimal':
    case 'fraction':
      return header('retry-after', seconds.toFixed(1));
    case 'date':
      return header('retry-after', at.toUTCString());
    case 'date_rfc850':
      return header('retry-after', rfc850(at));
    case 'date_asctime':
      return header('retry-after', asctime(at));
    case 'ms':
      return header('retry-after-ms', String(Math.round(seconds * 1000)));
    case 'vendor_ms':
      return header('x-ms-retry-after-ms', String(Math.round(seconds * 1000)));
    case 'duration':
      return header('x-ratelimit-reset-requests', duration(seconds));
    case 'rfc3339':
      return header('anthropic-ratelimit-requests-reset', at.toISOString());
    case 'retry_delay':
      return {
        ...bare,
        text: ` Please retry in ${seconds}s.`,
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` }],
      };
    case 'resets_in_seconds':
      return { ...bare, fields: { resets_in_seconds: seconds } };
    case 'resets_at':
      return { ...bare, fields: { resets_at: Math.floor(at.getTime() / 1000) } };
    case 'text_try_again':
      return { ...bare, text: ` Please try again in ${seconds}s.` };
    case 'text_retry_after':
      return { ...bare, text: ` Please retry after ${seconds} seconds.` };
    case 'none':
      return bare;
    case 'negative':
      return header('retry-after', String(-Math.max(1, seconds)));
    case 'junk':
      return header('retry-after', 'soon');
    case 'past_date':
      return header('retry-after', new Date(nowMs - 3_600_000).toUTCString());
  }
}

/** 372 -> 6m12s, 0.02 -> 20ms: the way OpenAI writes its reset headers. */
export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)}ms`;
  const minutes = Math.floor(seconds / 60);
  const rest = Number((seconds - minutes * 60).toFixed(3));
  return minutes > 0 ? `${minutes}m${rest}s` : `${rest}s`;
}

const longDays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

function rfc850(at: Date): string {
  const [, day = '', month = '', year = '', time = ''] = at.toUTCString().split(/[ ,]+/);
  return `${longDays[at.getUTCDay()]}, ${day}-${month}-${year.slice(2)} ${time} GMT`;
}

function asctime(at: Date): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = at.toUTCString().split(/[ ,]+/);
  return `${weekday} ${month} ${String(Number(day)).padStart(2, ' ')} ${time} ${year}`;
}
