import { echo } from './echo';
import { marks } from './marks';
import { loop, noisy } from './misbehaving';
import { quick } from './quick';
import { replay } from './replay/replay';
import { sample } from './sample/sample';
import type { Script, ScriptOptions } from './script';
import { summaries } from './summaries';
import { text } from './text';

const scripts: Readonly<Record<string, (options: ScriptOptions) => Script>> = {
  echo,
  text,
  quick,
  loop,
  noisy,
  marks,
  sample,
  replay,
  summaries: summaries((spec) => createScript(spec)),
};

/** The script that a model's configuration names. */
export function createScript(spec: { readonly name: string } & ScriptOptions): Script {
  const factory = Object.hasOwn(scripts, spec.name) ? scripts[spec.name] : undefined;
  if (factory === undefined) throw new Error(`no script "${spec.name}"; there are: ${Object.keys(scripts).join(', ')}`);
  return factory(spec);
}
