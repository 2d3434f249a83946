import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import { layers, thirdPartyOwners } from './scripts/boundaries.mjs';

/** Imports point down only. One block per project, derived from the layers table; scripts/boundaries.spec proves that it fires. */
const boundaries = Object.entries(layers).flatMap(([project, allowed]) => {
  const forbidden = Object.keys(layers)
    .map((path) => path.split('/')[1])
    .filter((name) => !allowed.includes(name) && name !== project.split('/')[1]);
  const thirdParty = Object.entries(thirdPartyOwners)
    .filter(([, owners]) => !owners.includes(project))
    .map(([name, owners]) => ({ name, message: `only ${owners.join(', ')} may import it` }));
  const restricted = (names) => ({
    'no-restricted-imports': [
      'error',
      {
        paths: [
          ...names.map((name) => ({
            name: `@nightshift/${name}`,
            message: `${project} may import ${allowed.join(', ') || 'no project'} only`,
          })),
          ...thirdParty,
        ],
        patterns: [
          {
            group: [...names.map((name) => `@nightshift/${name}/*`), '**/services/*', '**/libs/*'],
            message: 'projects are imported by their package name, and downwards only',
          },
        ],
      },
    ],
  });
  return [
    { files: [`${project}/src/**/*.ts`], rules: restricted(forbidden) },
    {
      // Spec files may use the test kit, and the simulator as the other side of a wire.
      files: [`${project}/src/**/*.spec.ts`],
      rules: restricted(forbidden.filter((name) => !['testing', 'model-simulator', 'bus', 'local-stack'].includes(name))),
    },
  ];
});

export default tseslint.config(
  { ignores: ['**/dist/**', '**/gen/**', '**/generated/**', '**/node_modules/**', '.nx/**', '**/coverage/**', '.nightshift/**'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.{mjs,cjs,js}'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        require: 'readonly',
        module: 'writable',
        __dirname: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        fetch: 'readonly',
        AbortSignal: 'readonly',
        AbortController: 'readonly',
        globalThis: 'readonly',
        performance: 'readonly',
        setImmediate: 'readonly',
        structuredClone: 'readonly',
        TextDecoder: 'readonly',
        TextEncoder: 'readonly',
        crypto: 'readonly',
      },
    },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    files: ['**/*.ts'],
    rules: {
      'max-lines': ['error', { max: 400 }],
      'no-restricted-syntax': ['error', { selector: 'ExportAllDeclaration[exported=null]', message: 'name every export' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-empty': ['error', { allowEmptyCatch: false }],
    },
  },
  {
    // Nest reads constructor parameter types at run time: a type-only import would break injection.
    files: ['services/**/*.ts', 'libs/bus/**/*.ts', 'libs/db/**/*.ts'],
    rules: { '@typescript-eslint/consistent-type-imports': 'off' },
  },
  {
    files: ['libs/*/src/**/*.ts', 'services/*/src/**/*.ts'],
    ignores: ['libs/config/**', '**/*.spec.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'the environment is read in libs/config only' },
      ],
    },
  },
  {
    files: ['libs/*/src/**/*.ts', 'services/*/src/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    languageOptions: { parserOptions: { project: './tsconfig.check.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
    },
  },
  ...boundaries,
);
