import { create } from '@bufbuild/protobuf';
import { compaction, NightshiftError, transcript } from '@nightshift/contracts';
import type { Base } from '../ladder/base';
import type { Change } from '../ladder/hide';
import type { Plan } from '../ladder/plan';
import { stopReason } from '../ladder/ports';
import type { LadderPorts, StoreItem } from '../ladder/ports';
import { referenceTo } from '../ladder/stored';
import { estimateText } from '../measure/text-estimate';
import { fenced, fenceNotice } from '../text/fence';
import { replacementsBySeq } from '../view/replacements';
import { isProtected } from './micro';

/** Texts up to this many characters are not worth a call. */
const leastChars = 300;
/** The most a small model is given at once, in characters; longer texts are left to prune. */
const mostChars = 24_000;
/** Calls of one pass. */
const callLimit = 64;
const callTimeoutMs = 60_000;

interface Candidate {
  readonly entry: transcript.Entry;
  readonly at: number;
  readonly text: string;
  readonly source: string;
}

/** A small local model condenses old messages, oldest first, until the view lands. Never a user message. */
export async function onDeviceTier(
  plan: Plan,
  base: Base,
  from: compaction.Checkpoint,
  ports: LadderPorts,
  landed: (checkpoint: compaction.Checkpoint) => boolean,
  timeLeft: () => number,
): Promise<Change & { readonly failures: number; readonly calls: number }> {
  let checkpoint = from;
  const items: StoreItem[] = [];
  let failures = 0;
  let calls = 0;
  for (const candidate of candidates(plan, base, from).slice(0, callLimit)) {
    const timeoutMs = Math.min(callTimeoutMs, timeLeft());
    if (!ports.condense || timeoutMs <= 0 || ports.signal?.aborted || landed(checkpoint)) break;
    calls++;
    const short = await ports.condense(condenseCall(candidate, timeoutMs)).catch((error: unknown) => {
      if (ports.signal?.aborted) throw stopReason(ports.signal);
      if (NightshiftError.from(error).code === 'CANCELLED') throw error;
      return '';
    });
    const item = plan.names.item(candidate.entry, candidate.at);
    if (!item || short.trim() === '' || estimateText(short) * 2 > estimateText(candidate.text)) {
      failures++;
      continue;
    }
    items.push(item);
    const { entry, at } = candidate;
    const replacement = create(compaction.ReplacementSchema, {
      seq: entry.seq,
      part: at,
      kind: compaction.ReplacementKind.ON_DEVICE,
      text: `[shortened by a small model; the original: restore_tool_result {"id":"${plan.names.id(entry, at)}"}]\n${short.trim()}`,
      stored: referenceTo(item),
    });
    checkpoint = create(compaction.CheckpointSchema, { ...checkpoint, replacements: [...checkpoint.replacements, replacement] });
  }
  return { checkpoint, items, failures, calls };
}

function candidates(plan: Plan, base: Base, from: compaction.Checkpoint): Candidate[] {
  const shown = replacementsBySeq(from.replacements);
  const found: Candidate[] = [];
  const add = (entry: transcript.Entry, at: number, text: string, source: string): void => {
    if (text.length > leastChars && text.length <= mostChars && !shown.get(entry.seq)?.has(at))
      found.push({ entry, at, text, source });
  };
  for (const unit of plan.units.slice(0, base.tailAt)) {
    if (unit.to <= from.hiddenThroughSeq) continue;
    for (const entry of unit.entries) {
      if (entry.body.case === 'assistant') {
        for (const [i, block] of entry.body.value.blocks.entries()) {
          if (block.kind.case === 'text') add(entry, i, block.kind.value, 'assistant');
        }
      } else if (entry.body.case === 'toolResult' && !isProtected(entry.body.value.tool) && !entry.body.value.stored) {
        for (const [i, part] of entry.body.value.parts.entries()) {
          if (part.kind.case === 'text') add(entry, i, part.kind.value, entry.body.value.tool);
        }
      }
    }
  }
  return found;
}

function condenseCall(candidate: Candidate, timeoutMs: number): Parameters<NonNullable<LadderPorts['condense']>>[0] {
  const prompt = [
    'Shorten the text below to about a fifth. Keep names, paths, numbers, identifiers, errors and decisions exactly.',
    `Answer with the shortened text only. ${fenceNotice}`,
    '',
    fenced(candidate.source, candidate.text),
  ].join('\n');
  const parts = [create(transcript.PartSchema, { kind: { case: 'text', value: prompt } })];
  const user = create(transcript.UserMessageSchema, { parts });
  const messages = [create(transcript.ViewMessageSchema, { body: { case: 'user', value: user } })];
  const view = create(transcript.ViewSchema, { system: 'You shorten texts without losing facts.', messages });
  return { view, maxOutputTokens: Math.max(256, Math.ceil(candidate.text.length / 8)), timeoutMs };
}
