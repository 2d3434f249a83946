import type { MessageInitShape } from '@bufbuild/protobuf';
import { parseCandidate, type CandidateName } from '@nightshift/config';
import { NightshiftError, type task } from '@nightshift/contracts';
import type { CreateBody, MessageBody } from './tasks.schemas';

/** The chains of nightshift.yaml, by name. */
export type Chains = Readonly<Record<string, readonly CandidateName[]>>;

/**
 * The chain that a body asks for. A model is used only when the task names it or a chain is configured.
 * @throws NightshiftError INVALID_ARGUMENT when there is none.
 */
export function chainOf(body: Pick<CreateBody, 'models' | 'chain'>, chains: Chains): CandidateName[] {
  if (body.models && body.chain) throw fault('models: give either models or chain');
  if (body.models && body.models.length > 0) return body.models.map(parseCandidate);
  const name = body.chain ?? 'default';
  const chain = Object.hasOwn(chains, name) ? chains[name] : undefined;
  if (chain && chain.length > 0) return [...chain];
  if (!body.chain) throw fault('models: name at least one "provider/model", or configure chains.default in nightshift.yaml');
  const known = Object.keys(chains).join(', ') || 'none';
  throw fault(`chain: there is no chain ${JSON.stringify(name)} in nightshift.yaml (known: ${known})`);
}

function fault(text: string): NightshiftError {
  return new NightshiftError('INVALID_ARGUMENT', 'the request has one fault', { faults: [text] });
}

/** The request to the orchestrator. A repeated idempotency key gives the task that it gave before. */
export function createRequestOf(
  body: CreateBody,
  chains: Chains,
  from: { keyId: string; idempotencyKey: string },
): MessageInitShape<typeof task.CreateRequestSchema> {
  return {
    idempotencyKey: from.idempotencyKey,
    goal: body.goal,
    criteria: body.criteria,
    chain: chainOf(body, chains),
    workspace: body.workspace,
    createdBy: from.keyId,
    options: {
      maxOutputTokens: body.maxOutputTokens,
      maxIterations: body.maxIterations,
      system: body.system,
      toolNames: body.tools,
      tools: body.toolPolicy,
    },
  };
}

/** The parts of a message to a task. */
export function partsOf(body: MessageBody): NonNullable<MessageInitShape<typeof task.SendRequestSchema>['parts']> {
  if (body.text !== undefined) return [{ kind: { case: 'text', value: body.text } }];
  return (body.parts ?? []).map((part) =>
    'text' in part
      ? { kind: { case: 'text' as const, value: part.text } }
      : {
          kind: {
            case: 'image' as const,
            value: { mediaType: part.image.mediaType, data: Buffer.from(part.image.data, 'base64') },
          },
        },
  );
}
