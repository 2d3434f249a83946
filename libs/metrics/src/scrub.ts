/** Things that look like credentials even if nobody told us their value; errors, URLs and stack traces carry them. */
const keyLike = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bns_[A-Za-z0-9_-]{20,}/g,
  /\b(?:ghp|gho|ghs|github_pat)_[A-Za-z0-9_]{20,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bxai-[A-Za-z0-9]{20,}/g,
  /\bAKIA[A-Z0-9]{16}\b/g,
  /\bBearer [A-Za-z0-9._~+/=-]{12,}/g,
  /([?&](?:key|api_key|access_token|token)=)[^&\s"\\]{8,}/g,
  /(:\/\/[^:/@\s"]*:)[^@\s"/]{3,}(?=@)/g,
];
const mask = '******';

/** Removes the given values, and whatever looks like a key, from a JSON line. Values under 6 characters are not searched for. */
export function createScrubber(secrets: readonly string[]): (line: string) => string {
  const known = secrets
    .filter((value) => value.length >= 6)
    .flatMap((value) => [...new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])])
    .sort((a, b) => b.length - a.length);
  return (line) => {
    let clean = line;
    for (const value of known) if (clean.includes(value)) clean = clean.replaceAll(value, mask);
    for (const pattern of keyLike)
      clean = clean.replace(pattern, (_all, kept: unknown) => (typeof kept === 'string' ? kept : '') + mask);
    return clean;
  };
}
