import { grouped } from './numbers';

type Cell = string | number;

/** A plain table: text to the left, numbers grouped and to the right. */
export function table(heads: readonly string[], rows: ReadonlyArray<readonly Cell[]>): string {
  if (rows.length === 0) return '(none)\n';
  const text = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? grouped(cell) : cell)));
  const widths = heads.map((head, column) => Math.max(head.length, ...text.map((row) => row[column]?.length ?? 0)));
  const numeric = heads.map((_, column) => rows.every((row) => typeof row[column] === 'number'));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (numeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return `${[heads, ...text].map(line).join('\n')}\n`;
}
