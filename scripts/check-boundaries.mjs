// A boundary rule can silently do nothing. Each canary below breaks one rule on purpose; this check fails when one is not caught.
import { ESLint } from 'eslint';

const canaries = [
  [
    'services/api/src/canary.ts',
    "import { x } from '@nightshift/orchestrator';\nexport const y = x;\n",
    'no-restricted-imports',
    'service to service',
  ],
  [
    'services/api/src/canary.ts',
    "import { x } from '../../orchestrator/src/services/main';\nexport const y = x;\n",
    'no-restricted-imports',
    'service to service by path',
  ],
  [
    'services/compactor/src/canary.ts',
    "import { x } from '@nightshift/db';\nexport const y = x;\n",
    'no-restricted-imports',
    'database from the stateless compactor',
  ],
  [
    'services/tool-runner/src/canary.ts',
    "import { Pool } from 'pg';\nexport const y = Pool;\n",
    'no-restricted-imports',
    'pg from the runner',
  ],
  [
    'libs/compaction/src/canary.ts',
    "import { x } from '@nightshift/bus';\nexport const y = x;\n",
    'no-restricted-imports',
    'upwards from the pure core',
  ],
  [
    'libs/contracts/src/canary.ts',
    "import { x } from '@nightshift/config';\nexport const y = x;\n",
    'no-restricted-imports',
    'upwards from contracts',
  ],
  [
    'services/orchestrator/src/canary.ts',
    "import { connect } from 'nats';\nexport const y = connect;\n",
    'no-restricted-imports',
    'nats outside the bus',
  ],
  [
    'services/orchestrator/src/canary.ts',
    "import { x } from '@nightshift/testing';\nexport const y = x;\n",
    'no-restricted-imports',
    'the test kit outside spec files',
  ],
  [
    'services/orchestrator/src/canary.ts',
    'export const y = process.env.HOME;\n',
    'no-restricted-properties',
    'the environment outside libs/config',
  ],
  ['libs/bus/src/canary.ts', "export * from './bus';\n", 'no-restricted-syntax', 'a wildcard export'],
  ['libs/bus/src/canary.ts', `${'\n// line'.repeat(401)}\nexport const y = 1;\n`, 'max-lines', 'a file above 400 lines'],
];
const allowed = [
  ['services/orchestrator/src/canary.ts', "import { x } from '@nightshift/bus';\nexport const y = x;\n"],
  ['services/orchestrator/src/canary.spec.ts', "import { x } from '@nightshift/testing';\nexport const y = x;\n"],
];

// A canary is no file of any tsconfig, so the type-aware rules are left out for it.
const untyped = {
  files: ['**/*.ts'],
  languageOptions: { parserOptions: { project: null } },
  rules: { '@typescript-eslint/no-floating-promises': 'off', '@typescript-eslint/no-misused-promises': 'off' },
};
const eslint = new ESLint({ overrideConfig: untyped });
const rulesHit = async (filePath, code) =>
  (await eslint.lintText(code, { filePath })).flatMap((result) =>
    result.messages.map((message) => message.ruleId ?? message.message),
  );

let failed = 0;
for (const [filePath, code, rule, what] of canaries) {
  const hit = await rulesHit(filePath, code);
  if (!hit.includes(rule)) {
    failed += 1;
    console.error(`boundary canary not caught: ${what} (${filePath}, ${rule}); reported: ${hit.join(', ') || 'nothing'}`);
  }
}
for (const [filePath, code] of allowed) {
  const hit = await rulesHit(filePath, code);
  if (hit.length > 0) {
    failed += 1;
    console.error(`allowed import refused in ${filePath}: ${hit.join(', ')}`);
  }
}
console.log(`boundary canaries: ${canaries.length + allowed.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
