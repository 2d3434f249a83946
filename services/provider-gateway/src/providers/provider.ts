import type { ModelEntry } from '@nightshift/config';
import type { Format, Target } from '../formats/format';
import type { ClockLimits } from '../transport/clocks';
import type { Vendor } from '../vendors/vendor';
import type { VendorName } from '../vendors/rows';

/** One configured provider: a vendor's row with an endpoint, a credential and limits. */
export interface Provider {
  id: string;
  vendorName: VendorName;
  vendor: Vendor;
  format: Format;
  target: Target;
  /** Which credential, without telling it: eight hexadecimal digits of its hash, or "none". */
  credential: string;
  clocks: ClockLimits;
  maxConcurrency: number;
  models: Readonly<Record<string, ModelEntry>>;
}
