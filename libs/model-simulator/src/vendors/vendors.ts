import type { FormatName } from '../config/model-spec';
import { anthropic } from './anthropic';
import { openai } from './openai';
import type { Vendor } from './vendor';
import type { VendorName } from './vendor-names';

/** One row per vendor: a missing one does not compile. */
export const vendors: Partial<Record<VendorName, Vendor>> = {
  anthropic,
  openai,
};

const ofFormat: Record<FormatName, VendorName> = {
  anthropic: 'anthropic',
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  ollama: 'ollama',
};

/** The model's own vendor, else its mount's, else the one that the format belongs to. */
export function vendorFor(own: VendorName | undefined, mount: VendorName | undefined, format: FormatName): Vendor {
  return vendors[own ?? mount ?? ofFormat[format]] ?? openai;
}
