import type { ModelSpec } from '../config/model-spec';
import type { Format, WireRequest } from '../formats/format';
import type { Measured } from '../usage/measure';
import { Refusal } from '../vendors/problem';
import type { Vendor } from '../vendors/vendor';

export interface Admitted {
  /** Largest output in tokens. */
  readonly limit: number;
  readonly limitedByWindow: boolean;
  /** Input that the model sees, after a silent truncation. */
  readonly input: number;
}

/**
 * Whether the request fits, requested output included, as this vendor checks it. Throws Refusal.
 * @param window tokens that the model serves at present.
 */
export function admit(
  request: WireRequest,
  measured: Measured,
  spec: ModelSpec,
  window: number,
  vendor: Vendor,
  format: Format,
): Admitted {
  const input = measured.total;
  const requested = request.requestedOutput;
  const images = request.segments.reduce((sum, segment) => sum + segment.images, 0);
  if (images > spec.imagesMax)
    throw new Refusal({ kind: 'invalid', message: `Too many images and documents: ${images} + 0 > ${spec.imagesMax}` });
  if (requested !== undefined && requested > spec.outputMax && vendor.capsOutput)
    throw new Refusal({ kind: 'output_cap', requested, cap: spec.outputMax, input, window });
  const wanted = Math.min(requested ?? spec.outputMax, spec.outputMax);
  const reserved = vendor.reservesOutput ? (requested ?? spec.outputDefault) : 0;
  if (input > window && mayTruncate(request, spec, vendor)) {
    const served = truncated(measured, window);
    return { limit: Math.min(wanted, window - served), limitedByWindow: true, input: served };
  }
  const room = window - input;
  const tooMuchInput = input > window || (spec.inputMax !== undefined && input > spec.inputMax);
  const stopsAtWindow = spec.windowStop && format.name === 'anthropic';
  if (tooMuchInput || (reserved > room && !stopsAtWindow))
    throw new Refusal({
      kind: 'overflow',
      input,
      output: requested ?? spec.outputDefault,
      window,
      tools: measured.tools,
      ...(spec.inputMax === undefined ? {} : { inputMax: spec.inputMax }),
    });
  return { limit: Math.min(wanted, room), limitedByWindow: room < wanted, input };
}

function mayTruncate(request: WireRequest, spec: ModelSpec, vendor: Vendor): boolean {
  if (spec.overflow !== undefined) return spec.overflow === 'truncate';
  return vendor.truncates === true ? request.truncate !== false : request.truncate === true;
}

/** Oldest messages go first; a last message that is too long by itself is cut to half of the window, as Ollama does. */
function truncated(measured: Measured, window: number): number {
  const { cumulative, total } = measured;
  const kept = cumulative.map((sum) => total - sum).find((rest) => rest <= window && rest > 0);
  return kept ?? Math.floor(window / 2) + 2;
}
