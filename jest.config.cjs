const preset = require('./jest.preset.cjs');
const roots = ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/scripts', '<rootDir>/infra', '<rootDir>/bench'];

/** unit: no I/O. int: a real component, its servers started by the run itself. e2e: the whole stack. */
module.exports = {
  // Jest takes no time-out per project. Generous: real servers on a busy machine; a test waits for conditions, not for this.
  testTimeout: 120_000,
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
    },
    { ...preset, displayName: 'e2e', rootDir: __dirname, roots: ['<rootDir>/e2e'], testRegex: '\\.e2e\\.spec\\.ts$' },
  ],
};
