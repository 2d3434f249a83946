// Lets plain node require this repository's TypeScript: the global setup runs outside of Jest's module system, and
// nothing has been built when the tests start.
const Module = require('node:module');
const path = require('node:path');
const swc = require('@swc/core');

const libs = path.resolve(__dirname, '../..');
const workspacePackage = /^@nightshift\/([a-z-]+)$/;
const options = {
  swcrc: false,
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    target: 'es2022',
    keepClassNames: true,
  },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

if (!Module._extensions['.ts']?.nightshift) {
  const load = (module, filename) => module._compile(swc.transformFileSync(filename, options).code, filename);
  load.nightshift = true;
  Module._extensions['.ts'] = load;
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (request, ...rest) {
    const found = workspacePackage.exec(request);
    return resolve.call(this, found ? path.join(libs, found[1], 'src/index.ts') : request, ...rest);
  };
}
