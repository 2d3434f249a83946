import type { Report } from './report';
import { bytes, duration, grouped } from '../show/numbers';
import { table } from '../show/table';

/** The report for people. `missing`: what should have happened and did not. */
export function reportText(report: Report, missing: readonly string[], notes: readonly string[]): string {
  const { task } = report;
  const lines = [
    '',
    `Sample task ${task.id}: ${task.state} in ${duration(report.seconds * 1000)}, ${task.toolCalls} tool calls, ` +
      `${task.criteria.closed} of ${task.criteria.closed + task.criteria.open} criteria closed.`,
    '',
    `Compactions (${report.thresholdHits} threshold hits)`,
    table(
      ['generation', 'model', 'window', 'threshold', 'before', 'after', 'tiers'],
      report.compactions.map((one) => [
        one.generation,
        one.model,
        one.window,
        one.threshold,
        one.before,
        one.after,
        one.tiers.map((tier) => `${tier.tier} ${tier.outcome}`).join(', '),
      ]),
    ),
    'Fallbacks',
    table(
      ['from', 'to', 'reason', 'window', 'threshold'],
      report.fallbacks.map((one) => [one.from, one.to, one.reason, one.window, one.threshold]),
    ),
    'Restored results',
    table(
      ['id', 'size', 'bytes'],
      report.restores.map((one) => [one.id, bytes(one.bytes), one.sha256Matches ? 'identical (SHA-256)' : 'DIFFERENT']),
    ),
    `Put back after compactions: ${report.reinjected.map((one) => `${one.kind} ${grouped(one.count)}×`).join(', ') || 'nothing'}`,
    ...notes,
    '',
    ...(missing.length > 0
      ? ['Not everything happened:', ...missing.map((text) => `  - ${text}`)]
      : ['Everything happened as it should.']),
  ];
  return `${lines.join('\n')}\n`;
}
