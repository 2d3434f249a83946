import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from './generated-files';

// node infra/dist/generate.js [--check]: writes every generated file below infra/, or says which are not current.
const root = join(__dirname, '..');
const check = process.argv.includes('--check');
const stale: string[] = [];
for (const [path, content] of Object.entries(generatedFiles())) {
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === content) continue;
  stale.push(path);
  if (check) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
if (check && stale.length > 0) {
  console.error(`not current: ${stale.join(', ')}; run: npm run infra:generate`);
  process.exitCode = 1;
} else console.log(stale.length === 0 ? 'all generated files are current' : `wrote ${stale.join(', ')}`);
