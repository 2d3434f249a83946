import { echo } from './echo';
import { sample } from './sample/sample';
import type { Script, ScriptOptions } from './script';

const scripts: Readonly<Record<string, (options: ScriptOptions) => Script>> = { echo, sample };

/** The script that a model's configuration names. */
export function createScript(spec: { readonly name: string } & ScriptOptions): Script {
  const factory = scripts[spec.name];
  if (factory === undefined) throw new Error(`no script "${spec.name}"; there are: ${Object.keys(scripts).join(', ')}`);
  return factory(spec);
}
