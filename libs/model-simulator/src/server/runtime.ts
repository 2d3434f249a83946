import type { FormatName } from '../config/model-spec';
import type { ServerMode, ServerModel, ServerSpec } from '../config/server-spec';
import { arm, type ArmedFault } from '../faults/choose';
import type { Script } from '../scripts/script';
import { createScript } from '../scripts/scripts';

/** One model while the server runs. */
export interface ModelRuntime {
  readonly name: string;
  spec: ServerModel;
  script: Script;
  faults: ArmedFault[];
  requests: number;
  /** Requests for a summary among them. */
  summaries: number;
  /** Window in tokens that it is loaded with; undefined = not in memory. */
  served: number | undefined;
  /** How often it was loaded since the start: polling must never change it. */
  loads: number;
}

/** One place in the URL space with its own models. */
export interface ServerRuntime {
  readonly name: string;
  readonly kind: ServerSpec['kind'];
  /** One of the vendors' views on the cloud side's models. */
  readonly cloud: boolean;
  readonly router: boolean;
  readonly version: string | undefined;
  readonly key: string | undefined;
  readonly models: Map<string, ModelRuntime>;
  mode: ServerMode;
}

export function createModel(name: string, spec: ServerModel): ModelRuntime {
  const loaded = spec.facts.loaded && spec.facts.remoteHost === undefined;
  return {
    name,
    spec,
    script: createScript(spec.script),
    faults: arm(spec.faults),
    requests: 0,
    summaries: 0,
    served: loaded ? spec.window : undefined,
    loads: 0,
  };
}

export function createServerRuntime(name: string, spec: ServerSpec): ServerRuntime {
  const models = new Map(
    Object.entries(spec.models).map(([model, own]): [string, ModelRuntime] => [model, createModel(model, own)]),
  );
  return {
    name,
    kind: spec.kind,
    cloud: false,
    router: spec.router,
    version: spec.version,
    key: spec.key,
    models,
    mode: spec.mode,
  };
}

/** New settings for a running model; the request counter goes on. A loaded model serves the new window at once. */
export function changeModel(model: ModelRuntime, spec: ServerModel): void {
  model.spec = spec;
  model.script = createScript(spec.script);
  model.faults = arm(spec.faults);
  if (model.served !== undefined) model.served = spec.window;
}

export function answersFormat(spec: ServerModel, format: FormatName): boolean {
  return spec.format === undefined || spec.format === format || (Array.isArray(spec.format) && spec.format.includes(format));
}

export function trainedOf(model: ModelRuntime): number {
  return model.spec.facts.trained ?? model.spec.window;
}

/** Loads a model for a request: with the window asked for, the Modelfile's, or the server's own choice, never above the trained one. */
export function load(model: ModelRuntime, numCtx?: number): void {
  const { facts, window } = model.spec;
  const wanted = Math.min(numCtx ?? facts.modelfileNumCtx ?? window, trainedOf(model));
  if (model.served !== undefined && (numCtx === undefined || model.served === wanted)) return;
  model.served = wanted;
  model.loads++;
}

/** Tokens that a request meets: what the model is loaded with; the whole window on the cloud side. */
export function windowOf(model: ModelRuntime): number {
  return model.served ?? model.spec.window;
}
