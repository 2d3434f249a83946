// Tests run from source (no build first): the custom condition resolves workspace packages to src/index.ts.
module.exports = {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@nightshift/source', 'node', 'require', 'default'] },
  transform: { '^.+\\.ts$': ['@swc/jest'] },
  moduleFileExtensions: ['ts', 'js', 'cjs', 'json', 'node'],
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/', '/dist/'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
};
