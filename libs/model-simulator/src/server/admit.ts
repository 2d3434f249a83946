import type { Format, WireRequest } from '../formats/format';
import type { ModelSpec } from '../config/model-spec';
import type { Measured } from '../usage/measure';
import { Refusal } from '../vendors/problem';
import type { Vendor } from '../vendors/vendor';

export interface Admitted {
  /** Largest output in tokens. */
  readonly limit: number;
  readonly limitedByWindow: boolean;
  /** Input after a silent truncation. */
  readonly input: number;
}

/** Whether the request fits the window, requested output included, as this vendor checks it. Throws Refusal. */
export function admit(request: WireRequest, measured: Measured, spec: ModelSpec, vendor: Vendor, format: Format): Admitted {
  const input = measured.total;
  const requested = request.requestedOutput;
  const images = request.segments.reduce((sum, segment) => sum + segment.images, 0);
  if (images > spec.imagesMax)
    throw new Refusal({ kind: 'invalid', message: `Too many images and documents: ${images} + 0 > ${spec.imagesMax}` });
  if (requested !== undefined && requested > spec.outputMax && vendor.capsOutput)
    throw new Refusal({ kind: 'output_cap', requested, cap: spec.outputMax, input, window: spec.window });
  const reserved = vendor.reservesOutput ? (requested ?? spec.outputDefault) : 0;
  const room = spec.window - input;
  if (spec.overflow === 'truncate' && room < reserved) {
    // Half of the window is what Ollama keeps of a prompt that is too long.
    const served = input > spec.window ? Math.floor(spec.window / 2) + 2 : input;
    return { limit: Math.min(requested ?? spec.outputMax, spec.window - served), limitedByWindow: true, input: served };
  }
  const tooMuchInput = input > spec.window || (spec.inputMax !== undefined && input > spec.inputMax);
  const stopsAtWindow = spec.windowStop && format.name === 'anthropic';
  if (tooMuchInput || (reserved > room && !stopsAtWindow))
    throw new Refusal({
      kind: 'overflow',
      input,
      output: requested ?? spec.outputDefault,
      window: spec.window,
      tools: measured.tools,
      ...(spec.inputMax === undefined ? {} : { inputMax: spec.inputMax }),
    });
  const wanted = Math.min(requested ?? spec.outputMax, spec.outputMax);
  return { limit: Math.max(0, Math.min(wanted, room)), limitedByWindow: room < wanted, input };
}
