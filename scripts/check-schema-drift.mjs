// Applies the migrations to a scratch database and compares the result with prisma/*.prisma: exit 0 = equal, 2 = they differ
// (the SQL that would close the gap is printed), 1 = the check itself failed. Needs `npm run build` first.
//   node scripts/check-schema-drift.mjs
// Works offline: the schema engine runs as WebAssembly over adapter-pg, pinned to the same version as Prisma itself.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum, bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(import.meta.url);
/** The catalog type "char", which adapter-pg has no mapping for and the engine's introspection reads. */
const charOid = 18;
const bpcharOid = 1042;

globalThis.PRISMA_WASM_PANIC_REGISTRY = {
  message: '',
  set_message(message) {
    this.message = message;
    console.error('the schema engine panicked:', message.slice(0, 300));
  },
};

async function loadEngine() {
  const glue = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const folder = path.dirname(require.resolve('@prisma/schema-engine-wasm/schema_engine_bg'));
  const binary = readFileSync(path.join(folder, 'schema_engine_bg.wasm'));
  const { instance } = await globalThis.WebAssembly.instantiate(binary, { './schema_engine_bg.js': glue });
  glue.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return glue.SchemaEngine;
}

/** Read as text the engine panics on Postgres 18, so the columns must be reported as Character. */
function withCharType(adapter) {
  let charColumns = [];
  const performIO = adapter.performIO.bind(adapter);
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.performIO = async (query) => {
    const result = await performIO(query);
    charColumns = [];
    (result.fields ?? []).forEach((field, index) => {
      if (field.dataTypeID !== charOid) return;
      charColumns.push(index);
      field.dataTypeID = bpcharOid;
    });
    return result;
  };
  adapter.queryRaw = async (query) => {
    const result = await queryRaw(query);
    for (const index of charColumns) result.columnTypes[index] = ColumnTypeEnum.Character;
    return result;
  };
  return adapter;
}

class Factory extends PrismaPg {
  async connect() {
    return withCharType(await super.connect());
  }
}

async function main() {
  const { startPostgres } = require(path.join(root, 'libs/local-stack/dist/index.js'));
  const { migrate } = require(path.join(root, 'libs/db/dist/index.js'));
  const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-drift-'));
  const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), durable: false });
  try {
    await migrate(postgres.url);
    const files = readdirSync(path.join(root, 'prisma'))
      .filter((name) => name.endsWith('.prisma'))
      .map((name) => ({ path: `prisma/${name}`, content: readFileSync(path.join(root, 'prisma', name), 'utf8') }));
    const SchemaEngine = await loadEngine();
    const datamodels = files.map((file) => [file.path, file.content]);
    const factory = bindMigrationAwareSqlAdapterFactory(new Factory({ connectionString: postgres.url }));
    const engine = await SchemaEngine.new({ datamodels }, () => undefined, factory);
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', configDir: root, files },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: ['public._prisma_migrations'], externalEnums: [] },
    });
    if (exitCode !== 0) console.log(`the migrations and prisma/*.prisma differ; this would close the gap:\n${stdout}`);
    return exitCode;
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exit(await main().catch((error) => (console.error(error), 1)));
