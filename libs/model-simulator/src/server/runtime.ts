import type { FormatName, ModelSpec } from '../config/model-spec';
import { arm, type ArmedFault } from '../faults/choose';
import type { Script } from '../scripts/script';
import { createScript } from '../scripts/scripts';

/** One model while the server runs. */
export interface ModelRuntime {
  readonly name: string;
  spec: ModelSpec;
  script: Script;
  faults: ArmedFault[];
  requests: number;
  /** Requests for a summary among them. */
  summaries: number;
}

export function createModel(name: string, spec: ModelSpec): ModelRuntime {
  return { name, spec, script: createScript(spec.script), faults: arm(spec.faults), requests: 0, summaries: 0 };
}

/** New settings for a running model; the request counter goes on. */
export function changeModel(model: ModelRuntime, spec: ModelSpec): void {
  model.spec = spec;
  model.script = createScript(spec.script);
  model.faults = arm(spec.faults);
}

export function answersFormat(spec: ModelSpec, format: FormatName): boolean {
  return spec.format === undefined || spec.format === format || (Array.isArray(spec.format) && spec.format.includes(format));
}
