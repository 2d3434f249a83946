import type { transcript } from '@nightshift/contracts';
import { checkers } from '../checkers/checkers';
import { estimateView } from '../measure/estimate';
import { fitVector } from '../measure/fit';
import { messageText } from '../tiers/summary-text';
import type { PassSaid, Session, SummaryRequest } from './engine';

/** What a step of a case is compared with: facts about the view that hold for any engine. */
export interface ViewFacts {
  readonly messages: number;
  readonly tokens: number;
  readonly images: number;
  readonly bytes: number;
  /** Violations found by the checker of each protocol. */
  readonly violations: { readonly anthropic: number; readonly openaiChat: number; readonly openaiResponses: number };
  readonly firstViolation: string;
  /** Pieces of entries that are neither in the view nor restorable byte for byte; reasoning does not count. */
  readonly lost: number;
  readonly reasoningBlocks: number;
  /** Reasoning blocks of the view that are not byte-identical to those of the entries. */
  readonly alteredReasoning: number;
  /** Roles in order: u, a, t. */
  readonly roles: string;
  readonly text: string;
}

export async function viewFacts(session: Session, entries: readonly transcript.Entry[]): Promise<ViewFacts> {
  const view = session.view(entries);
  const found = Object.entries(checkers).map(([protocol, check]) => ({ protocol, list: check(view) }));
  const count = (protocol: string): number => found.find((one) => one.protocol === protocol)?.list.length ?? 0;
  const first = found.find((one) => one.list.length > 0);
  const tokens = estimateView(view);
  const { images, bytes } = fitVector(view, tokens);
  return {
    messages: view.messages.length,
    tokens,
    images,
    bytes,
    violations: { anthropic: count('anthropic'), openaiChat: count('openaiChat'), openaiResponses: count('openaiResponses') },
    firstViolation: first ? `${first.protocol}: ${first.list[0]?.rule} at ${first.list[0]?.at}` : '',
    lost: await lostPieces(session, view, entries),
    ...reasoningFacts(view, entries),
    roles: view.messages.map(({ body }) => ({ user: 'u', assistant: 'a', toolResults: 't' })[body.case ?? 'user']).join(''),
    text: `${view.system}\n${view.messages.map(messageText).join('\n')}`,
  };
}

export interface RequestFacts {
  readonly kind: string;
  readonly tokens: number;
  readonly maxOutput: number;
  readonly images: number;
  readonly longestBase64: number;
  readonly tools: number;
  readonly text: string;
}

export function requestFacts(request: SummaryRequest): RequestFacts {
  const text = request.view.messages.map(messageText).join('\n');
  const longest = (text.match(/[A-Za-z0-9+/]{200,}/g) ?? []).reduce((length, run) => Math.max(length, run.length), 0);
  const { images } = fitVector(request.view, 0);
  const { kind, tokens, maxOutput } = request;
  return { kind, tokens, maxOutput, images, longestBase64: longest, tools: request.view.tools.length, text };
}

/** What a pass said, without the requests themselves. */
export function passFacts(said: PassSaid): object {
  const { summaryRequests = [], tiers = [], ...rest } = said;
  return {
    ...rest,
    tiers: tiers.map(({ tier, outcome }) => `${tier}:${outcome}`),
    tierReasons: Object.fromEntries(tiers.map(({ tier, reason }) => [tier, reason])),
    summaryCalls: summaryRequests.length,
    requests: summaryRequests.map(requestFacts),
  };
}

async function lostPieces(session: Session, view: transcript.View, entries: readonly transcript.Entry[]): Promise<number> {
  const shown = new Set<string>();
  for (const { body } of view.messages) {
    if (body.case === 'user') addParts(shown, body.value.parts);
    else if (body.case === 'toolResults') for (const result of body.value.results) addParts(shown, result.parts);
    else if (body.case === 'assistant') for (const block of body.value.blocks) shown.add(blockContent(block));
  }
  let lost = 0;
  for (const entry of entries) {
    for (const [at, content] of contentsOf(entry).entries()) {
      if (content === '' || shown.has(content)) continue;
      const bytes = await session.restore(entry, at);
      if (!bytes || contentOf(bytes, content) !== content) lost++;
    }
  }
  return lost;
}

/** Contents by position; images by their bytes, reasoning left out (empty). */
function contentsOf({ body }: transcript.Entry): string[] {
  if (body.case === 'user' || body.case === 'toolResult') return body.value.parts.map(partContent);
  if (body.case === 'assistant') return body.value.blocks.map(blockContent);
  return body.case === 'note' ? [body.value.text] : [];
}

const imageMark = '\0image:';

function partContent({ kind }: transcript.Part): string {
  if (kind.case === 'text') return kind.value;
  return kind.case === 'image' ? imageMark + Buffer.from(kind.value.data).toString('base64') : '';
}

function blockContent({ kind }: transcript.Block): string {
  if (kind.case === 'text') return kind.value.trim() === '' ? '' : kind.value;
  return kind.case === 'toolCall' ? kind.value.argumentsJson : '';
}

function contentOf(bytes: Uint8Array, like: string): string {
  return like.startsWith(imageMark) ? imageMark + Buffer.from(bytes).toString('base64') : Buffer.from(bytes).toString('utf8');
}

function addParts(shown: Set<string>, parts: readonly transcript.Part[]): void {
  for (const part of parts) {
    shown.add(partContent(part));
    // A notice is shown with a mark in front of it.
    if (part.kind.case === 'text') shown.add(part.kind.value.replace(/^\[platform notice: [^\]]*\] /, ''));
  }
}

function reasoningFacts(
  view: transcript.View,
  entries: readonly transcript.Entry[],
): { reasoningBlocks: number; alteredReasoning: number } {
  const originals = new Set<string>();
  const key = ({ text, signature, opaqueJson }: transcript.Reasoning): string => `${text}\0${signature}\0${opaqueJson}`;
  for (const { body } of entries) {
    if (body.case === 'assistant')
      for (const { kind } of body.value.blocks) if (kind.case === 'reasoning') originals.add(key(kind.value));
  }
  let reasoningBlocks = 0;
  let alteredReasoning = 0;
  for (const { body } of view.messages) {
    if (body.case !== 'assistant') continue;
    for (const { kind } of body.value.blocks) {
      if (kind.case !== 'reasoning') continue;
      reasoningBlocks++;
      if (!originals.has(key(kind.value))) alteredReasoning++;
    }
  }
  return { reasoningBlocks, alteredReasoning };
}
