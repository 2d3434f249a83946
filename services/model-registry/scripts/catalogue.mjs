// Makes src/catalogue/catalogue.json from the model table of the npm package @earendil-works/pi-ai (MIT).
//   node services/model-registry/scripts/catalogue.mjs           writes it
//   node services/model-registry/scripts/catalogue.mjs --check   exits 1 when the committed file differs, 3 when the package
//                                                                cannot be fetched (no network): then nothing was compared
// The package is fetched through npm at the pinned version and integrity; it is not a dependency.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const source = {
  package: '@earendil-works/pi-ai',
  version: '0.74.2',
  integrity: 'sha512-ukQBHGDm20k9ZUS2cGjNN9vDJp/48r35xmvgSx3paCaC06r2N/PLuRZoJmwQ1ZM7f8T3072odv9YPWn+77w0LA==',
  licence: 'MIT, Copyright (c) Mario Zechner',
  snapshotDate: '2026-07-12',
};
const target = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../src/catalogue/catalogue.json');

function pack(folder) {
  try {
    return execFileSync('npm', ['pack', `${source.package}@${source.version}`, '--silent'], { cwd: folder, encoding: 'utf8' });
  } catch (error) {
    process.stderr.write(`${source.package}@${source.version} cannot be fetched: ${error.message}\n`);
    rmSync(folder, { recursive: true, force: true });
    process.exit(3);
  }
}

async function fetchModels() {
  const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-catalogue-'));
  try {
    const packed = pack(folder);
    const archive = path.join(folder, packed.trim().split('\n').at(-1));
    const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (integrity !== source.integrity) throw new Error(`${source.package}@${source.version}: integrity is ${integrity}`);
    execFileSync('tar', ['xzf', archive, 'package/dist/models.generated.js', 'package/package.json'], { cwd: folder });
    const loaded = await import(pathToFileURL(path.join(folder, 'package/dist/models.generated.js')).href);
    return loaded.MODELS;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `input` prices and so on are dollars per million tokens. `context` and `output` are tokens. */
function row(model) {
  const cost = model.cost ?? {};
  return {
    context: model.contextWindow,
    output: model.maxTokens,
    price: [cost.input ?? 0, cost.output ?? 0, cost.cacheRead ?? 0, cost.cacheWrite ?? 0],
    ...(model.reasoning ? { reasoning: true } : {}),
    ...(model.input?.includes('image') ? { images: true } : {}),
  };
}

function render(models) {
  const lines = [`{`, `  "source": ${JSON.stringify(source)},`, `  "models": {`];
  const providers = Object.keys(models).sort();
  providers.forEach((provider, at) => {
    lines.push(`    ${JSON.stringify(provider)}: {`);
    const ids = Object.keys(models[provider]).sort();
    ids.forEach((id, index) => {
      const comma = index < ids.length - 1 ? ',' : '';
      lines.push(`      ${JSON.stringify(id)}: ${JSON.stringify(row(models[provider][id]))}${comma}`);
    });
    lines.push(`    }${at < providers.length - 1 ? ',' : ''}`);
  });
  return `${[...lines, '  }', '}'].join('\n')}\n`;
}

const text = render(await fetchModels());
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== text) {
    process.stderr.write(`${target} is not what ${source.package}@${source.version} gives; run this script without --check\n`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}
