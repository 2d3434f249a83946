/** A guess from the name: the smallest window any member of the family was served with by its own vendor. */
interface Family {
  pattern: RegExp;
  window: number;
  output: number;
}

const families: readonly Family[] = [
  { pattern: /(^|[/:])claude-(opus|sonnet|haiku|\d)/, window: 200_000, output: 8_192 },
  { pattern: /(^|[/:])gpt-5/, window: 400_000, output: 128_000 },
  { pattern: /(^|[/:])gpt-4\.1/, window: 1_047_576, output: 32_768 },
  { pattern: /(^|[/:])gpt-4o/, window: 128_000, output: 16_384 },
  { pattern: /(^|[/:])o[134](-|$)/, window: 128_000, output: 65_536 },
  { pattern: /(^|[/:])gemini-(1\.5|2|3)/, window: 1_048_576, output: 8_192 },
  { pattern: /(^|[/:])grok-(3|4)/, window: 131_072, output: 16_384 },
  { pattern: /(^|[/:])deepseek-(chat|reasoner|v3|r1)/, window: 64_000, output: 8_192 },
  { pattern: /(^|[/:])(mistral-large|mistral-medium|codestral|devstral)/, window: 128_000, output: 16_384 },
  { pattern: /(^|[/:])minimax-m/i, window: 196_608, output: 32_768 },
  { pattern: /(^|[/:])kimi-k2/, window: 131_072, output: 16_384 },
];

/** Remote vendors only: the same name on a local server says what was trained, not what is served. */
export function familyOf(model: string): { window: number; output: number } | undefined {
  const found = families.find((family) => family.pattern.test(model));
  return found && { window: found.window, output: found.output };
}
