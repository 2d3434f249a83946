import { keyEndpoints } from '../auth/keys.endpoints';
import { deadLetterEndpoints } from '../dead-letters/dead-letters.endpoints';
import { eventEndpoints } from '../events/events.endpoints';
import type { Endpoint } from '../http/endpoint';
import { modelEndpoints } from '../models/models.endpoints';
import { taskEndpoints, taskReadEndpoints } from '../tasks/tasks.endpoints';
import { docsEndpoints } from './docs.endpoints';

/** Every operation of the HTTP API, in the order of the documentation. */
export const endpoints: readonly Endpoint[] = [
  taskEndpoints,
  taskReadEndpoints,
  eventEndpoints,
  modelEndpoints,
  deadLetterEndpoints,
  keyEndpoints,
  docsEndpoints,
].flatMap((table) => Object.values<Endpoint>(table));
