import { readFileSync } from 'node:fs';
import path from 'node:path';
import { loadNightshiftFile, parseNightshiftFile } from '@nightshift/config';
import { projectRoot } from '../client/address';

const file = path.join(projectRoot, 'nightshift.yaml');

describe('nightshift.yaml', () => {
  it('configures nothing as it is shipped', () => {
    expect(loadNightshiftFile(file)).toMatchObject({ providers: {}, chains: {} });
  });

  it('is valid once its examples are switched on', () => {
    const lines = readFileSync(file, 'utf8').split('\n');
    // A commented line of YAML: a key, or the continuation of one; prose starts with a capital letter or a quote.
    const yaml = lines.map((line) => line.replace(/^# ?/, '')).filter((line) => /^\s*(#|[\w"/:.-]+:(\s|$))/.test(line));
    const parsed = parseNightshiftFile(yaml.filter((line) => !/^Nightshift:|^Chains:/.test(line)).join('\n'), 'nightshift.yaml');
    expect(Object.keys(parsed.providers).length).toBeGreaterThan(15);
    expect(parsed.chains.default).toHaveLength(2);
  });
});
