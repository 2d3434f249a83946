require('./source-hook.cjs');
const { spawnSync } = require('node:child_process');
const path = require('node:path');

/** One Postgres for the whole run, on a free port; its address reaches the workers through the environment. */
module.exports = async () => {
  const root = path.resolve(__dirname, '../../..');
  const generated = spawnSync(process.execPath, ['scripts/prisma-generate.mjs'], { cwd: root, stdio: 'inherit' });
  if (generated.status !== 0) throw new Error('prisma generate failed');
  const { startRunServers } = require('./run-servers.ts');
  const servers = await startRunServers();
  process.env.TEST_POSTGRES_URL = servers.postgresUrl;
  globalThis.__nightshiftRunServers = servers;
};
