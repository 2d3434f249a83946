import { isUtf8 } from 'node:buffer';
import { findBeneath } from '../files/beneath';
import { readWhole } from '../files/contents';
import { head } from '../files/text';

const ruleFiles = ['AGENTS.md', 'CLAUDE.md', '.nightshift/rules.md'];
/** Characters; more would crowd every request of the task. */
const maxRules = 32_000;

/** The project's rules for agents: the first of the known files at the root of the workspace; empty when there is none. */
export async function readRules(tree: string): Promise<string> {
  for (const name of ruleFiles) {
    const content = await readQuietly(tree, name);
    if (content === undefined || !isUtf8(content)) continue;
    const text = content.toString('utf8');
    return text.length <= maxRules
      ? text
      : `${head(text, maxRules)}\n[${name} is longer; ${maxRules} of ${text.length} characters]`;
  }
  return '';
}

/** A rules file that is a link to the outside, a directory or unreadable counts as absent: the workspace opens without it. */
async function readQuietly(tree: string, name: string): Promise<Buffer | undefined> {
  try {
    const place = findBeneath(tree, name);
    try {
      return await readWhole(place);
    } finally {
      place.close();
    }
  } catch {
    return undefined;
  }
}
