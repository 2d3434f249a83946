const preset = require('./jest.preset.cjs');
const roots = ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/scripts', '<rootDir>/infra', '<rootDir>/bench'];

/** unit: no I/O. int: a real component, its servers started by the run itself. e2e: the whole stack. */
module.exports = {
  projects: [
    { ...preset, displayName: 'unit', rootDir: __dirname, roots, testRegex: '(?<!\\.(int|e2e))\\.spec\\.ts$' },
    {
      ...preset,
      displayName: 'int',
      rootDir: __dirname,
      roots,
      testRegex: '\\.int\\.spec\\.ts$',
      globalSetup: '<rootDir>/libs/testing/src/jest-global-setup.cjs',
      globalTeardown: '<rootDir>/libs/testing/src/jest-global-teardown.cjs',
      testTimeout: 60_000,
    },
    { ...preset, displayName: 'e2e', rootDir: __dirname, roots: ['<rootDir>/e2e'], testRegex: '\\.e2e\\.spec\\.ts$', testTimeout: 300_000 },
  ],
};
