import { toJson } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import type { Session } from '../sessions/session';
import type { Replay, ReplayOptions } from './replay';

/** The `--json` form of a dry run: these fields and no others. What is to be said beside them goes to stderr. */
export function replayJson(session: Session, options: ReplayOptions, run: Replay) {
  return {
    format: session.format,
    messages: session.entries.length,
    window: options.window,
    threshold: run.threshold,
    generations: run.generations.map(({ index, atMessage, result, hidden, restorable, dropped, valid }) => ({
      index,
      atMessage,
      before: result.before,
      after: result.after,
      tiers: result.tiers.map(({ tier, outcome, before, after, reason }) => ({ tier, outcome, before, after, reason })),
      hidden,
      restorable,
      dropped,
      valid,
    })),
    final: { tokens: run.finalTokens, messages: run.view.messages.length },
  };
}

const grouped = (value: number) => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ');

/** The form for people. */
export function replayText(session: Session, options: ReplayOptions, run: Replay): string {
  const lines = [
    `${session.format} session, ${grouped(session.entries.length)} messages; window ${grouped(options.window)}, threshold ${grouped(run.threshold)}${run.effective === run.threshold ? '' : ` (tight: ${grouped(run.effective)})`}`,
  ];
  for (const { index, atMessage, result, hidden, restorable, dropped, valid } of run.generations) {
    const refused = Object.entries(valid).flatMap(([protocol, ok]) => (ok ? [] : [protocol]));
    lines.push(
      `generation ${index}, before message ${grouped(atMessage + 1)}: ${grouped(result.before)} → ${grouped(result.after)} tokens`,
      ...result.tiers.map(
        ({ tier, outcome, before, after, reason }) =>
          `  ${tier.padEnd(10)} ${outcome.padEnd(9)} ${grouped(before)} → ${grouped(after)}${reason ? `  (${reason})` : ''}`,
      ),
      `  hidden ${hidden}, of these restorable ${restorable}, dropped ${dropped}; ${refused.length === 0 ? 'valid for Anthropic, OpenAI chat and Responses' : `refused by ${refused.join(', ')}`}`,
    );
  }
  if (run.generations.length === 0 && run.stopped === undefined)
    lines.push('never above the threshold: nothing would be compacted');
  lines.push(`at the end: ${grouped(run.finalTokens)} tokens in ${grouped(run.view.messages.length)} messages`);
  return `${lines.join('\n')}\n`;
}

/** What was odd or did not fit, on stderr in both forms. */
export function replayRemarks(session: Session, run: Replay): string[] {
  return [
    ...session.warnings.map((warning) => `warning: ${warning}`),
    ...(run.stopped === undefined ? [] : [`stopped: ${run.stopped}`]),
  ];
}

/** The resulting view as JSON, for `--out`. */
export function viewJson(view: transcript.View): string {
  return `${JSON.stringify(toJson(transcript.ViewSchema, view), null, 2)}\n`;
}
