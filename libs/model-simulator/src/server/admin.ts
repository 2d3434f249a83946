import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { serverMode, serverModel } from '../config/server-spec';
import { banner } from './perform';
import { readBody } from './read-body';
import type { RequestLog } from './request-log';
import { changeModel, createModel, load, type ModelRuntime, type ServerRuntime } from './runtime';

export interface AdminState {
  readonly cloud: ReadonlyMap<string, ServerRuntime>;
  readonly cloudModels: Map<string, ModelRuntime>;
  readonly servers: ReadonlyMap<string, ServerRuntime>;
  readonly log: RequestLog;
  /** Applies a mode, closing or opening the server's own port where it has one. */
  readonly setMode: (server: ServerRuntime, mode: ServerRuntime['mode']) => Promise<void>;
}

const modelOrder = z.strictObject({
  /** Absent = the cloud side. */
  server: z.string().optional(),
  model: z.string(),
  /** Settings to change; a model that does not exist yet is added. */
  set: z.record(z.string(), z.unknown()).default({}),
  /** In memory or not; a number is the window that it is loaded with. */
  loaded: z.union([z.boolean(), z.number().int().min(1)]).optional(),
  remove: z.boolean().default(false),
});
const serverOrder = z.strictObject({ server: z.string().optional(), vendor: z.string().optional(), set: serverMode });

/** /_simulator/…: state, log, and changes while the server runs. For tests; errors list every fault. */
export async function administer(
  incoming: IncomingMessage,
  response: ServerResponse,
  path: string,
  state: AdminState,
): Promise<void> {
  const raw = await readBody(incoming);
  const answer = (status: number, body: unknown): void => {
    response.writeHead(status, { ...banner, 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  try {
    const body: unknown = raw === undefined || raw.length === 0 ? {} : JSON.parse(raw.toString('utf8'));
    switch (`${incoming.method} ${path}`) {
      case 'GET /_simulator/state':
        return answer(200, describe(state));
      case 'GET /_simulator/requests':
        return answer(200, state.log.recent());
      case 'POST /_simulator/model':
        return answer(200, orderModel(modelOrder.parse(body), state));
      case 'POST /_simulator/server':
        return answer(200, await orderServer(serverOrder.parse(body), state));
      default:
        return answer(404, { error: 'paths: GET state, GET requests, POST model, POST server' });
    }
  } catch (error) {
    answer(400, { error: error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message });
  }
}

function orderModel(order: z.infer<typeof modelOrder>, state: AdminState): unknown {
  const models = order.server === undefined ? state.cloudModels : state.servers.get(order.server)?.models;
  if (models === undefined) throw new Error(`no server "${order.server}"`);
  if (order.remove) {
    models.delete(order.model);
    return { removed: order.model };
  }
  const known = models.get(order.model);
  const before: Record<string, unknown> = known === undefined ? {} : { ...known.spec };
  const facts = { ...(known?.spec.facts ?? {}), ...(order.set['facts'] as Record<string, unknown> | undefined) };
  const spec = serverModel.parse({ ...before, ...order.set, facts });
  const model = known ?? createModel(order.model, spec);
  if (known === undefined) models.set(order.model, model);
  else if (Object.keys(order.set).length > 0) changeModel(model, spec);
  if (order.loaded === false) model.served = undefined;
  else if (order.loaded !== undefined) load(model, order.loaded === true ? undefined : order.loaded);
  return describeModel(model);
}

async function orderServer(order: z.infer<typeof serverOrder>, state: AdminState): Promise<unknown> {
  const server = order.server === undefined ? state.cloud.get(order.vendor ?? 'openai') : state.servers.get(order.server);
  if (server === undefined) throw new Error(`no server "${order.server ?? order.vendor}"`);
  await state.setMode(server, order.set);
  return { server: server.name, mode: server.mode };
}

function describeModel(model: ModelRuntime): unknown {
  const { name, spec, requests, summaries, served, loads } = model;
  return {
    name,
    window: spec.window,
    served: served ?? null,
    loads,
    requests,
    summaries,
    faultsLeft: model.faults.map(({ left }) => left),
  };
}

function describe(state: AdminState): unknown {
  return {
    simulator: 'nightshift-model-simulator',
    models: [...state.cloudModels.values()].map(describeModel),
    servers: [...state.servers.values()].map((server) => ({
      name: server.name,
      kind: server.kind,
      mode: server.mode,
      models: [...server.models.values()].map(describeModel),
    })),
  };
}
