import type { MessageInitShape } from '@bufbuild/protobuf';
import { defaultPolicy } from '@nightshift/compaction';
import { parseCandidate, type CandidateName, type NightshiftFile } from '@nightshift/config';
import { NightshiftError, type task } from '@nightshift/contracts';
import type { CreateBody, MessageBody } from './tasks.schemas';

/** The chains of nightshift.yaml, by name. */
export type Chains = Readonly<Record<string, readonly CandidateName[]>>;
type Policy = NonNullable<CreateBody['compaction']>;

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

/**
 * The compaction policy of a task: its own wishes over the operator's over the defaults; undefined when nobody wishes
 * anything. Whole, because a switch that is left out would read as "off" on the wire.
 */
export function policyOf(operator: NightshiftFile['compaction'], wished: Policy | undefined): Required<Policy> | undefined {
  if (!wished && Object.keys(operator).length === 0) return undefined;
  return {
    enabled: wished?.enabled ?? operator.enabled ?? defaultPolicy.enabled,
    fraction: wished?.fraction ?? operator.fraction ?? defaultPolicy.fraction,
    cap: wished?.cap ?? operator.cap ?? defaultPolicy.cap,
    floor: wished?.floor ?? operator.floor ?? defaultPolicy.floor,
    defaultReserve: wished?.defaultReserve ?? operator.default_reserve ?? defaultPolicy.defaultReserve,
    tokenCompression: wished?.tokenCompression ?? operator.token_compression ?? defaultPolicy.tokenCompression,
    minRetained: wished?.minRetained ?? operator.min_retained ?? defaultPolicy.minRetained,
  };
}

/** The request to the orchestrator. A repeated idempotency key gives the task that it gave before. */
export function createRequestOf(
  body: CreateBody,
  file: Pick<NightshiftFile, 'chains' | 'compaction'>,
  from: { keyId: string; idempotencyKey: string },
): MessageInitShape<typeof task.CreateRequestSchema> {
  return {
    idempotencyKey: from.idempotencyKey,
    goal: body.goal,
    criteria: body.criteria,
    chain: chainOf(body, file.chains),
    workspace: body.workspace,
    createdBy: from.keyId,
    options: {
      maxOutputTokens: body.maxOutputTokens,
      maxIterations: body.maxIterations,
      system: body.system,
      toolNames: body.tools,
      tools: body.toolPolicy,
      compaction: policyOf(file.compaction, body.compaction),
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
