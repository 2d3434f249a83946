import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { version } from '../version';
import { endpoints } from './endpoints';
import { openApi } from './openapi';

/** `npm run openapi:generate`: the document for readers of the repository; a test keeps it current. */
writeFileSync(
  path.resolve(__dirname, '../../../../docs/openapi.json'),
  `${JSON.stringify(openApi(endpoints, version), null, 2)}\n`,
);
