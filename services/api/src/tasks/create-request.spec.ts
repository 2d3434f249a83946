import { defaultPolicy } from '@nightshift/compaction';
import { isNightshiftError } from '@nightshift/contracts';
import { chainOf, createRequestOf, partsOf, policyOf } from './create-request';
import { createBody, messageBody } from './tasks.schemas';

const chains = { default: [{ provider: 'local', model: 'qwen3:8b' }], big: [{ provider: 'a', model: 'x' }] };

describe('chainOf', () => {
  it.each([
    ['the models that the body names', { models: ['openrouter/org/model:free'] }, [['openrouter', 'org/model:free']]],
    ['a named chain', { chain: 'big' }, [['a', 'x']]],
    ['the default chain', {}, [['local', 'qwen3:8b']]],
  ] as const)('takes %s', (_, body, expected) => {
    const input = body as { models?: string[]; chain?: string };
    expect(chainOf(input, chains).map((one) => [one.provider, one.model])).toEqual(expected);
  });

  it.each([
    ['both ways at once', { models: ['a/b'], chain: 'big' }, chains, /either models or chain/],
    ['an unknown chain', { chain: 'none' }, chains, /known: default, big/],
    ['a name of every object', { chain: 'constructor' }, chains, /no chain "constructor"/],
    ['no model where no default is configured', {}, {}, /chains\.default/],
  ] as const)('refuses %s', (_, body, known, expected) => {
    let caught: unknown;
    try {
      chainOf(body as { models?: string[]; chain?: string }, known);
    } catch (error) {
      caught = error;
    }
    expect(isNightshiftError(caught) && caught.faults.join()).toMatch(expected);
  });
});

describe('createRequestOf', () => {
  it('passes on what was asked and adds who asked', () => {
    const body = createBody.parse({
      goal: ' fix it ',
      criteria: ['tests pass'],
      models: ['sim/a'],
      workspace: { directory: '/w', mode: 'copy' },
      maxOutputTokens: 4096,
    });
    expect(createRequestOf(body, { chains: {}, compaction: {} }, { keyId: 'k', idempotencyKey: 'i' })).toMatchObject({
      idempotencyKey: 'i',
      createdBy: 'k',
      goal: 'fix it',
      criteria: ['tests pass'],
      chain: [{ provider: 'sim', model: 'a' }],
      workspace: { directory: '/w', mode: 'copy' },
      options: { maxOutputTokens: 4096 },
    });
  });
});

describe('policyOf', () => {
  it.each([
    ['nothing when nobody wishes anything', {}, undefined, undefined],
    ["the operator's over the defaults", { fraction: 0.6 }, undefined, { ...defaultPolicy, fraction: 0.6 }],
    [
      "the task's over the operator's, switches included",
      { fraction: 0.6, token_compression: false },
      { fraction: 0.7, cap: 50_000 },
      { ...defaultPolicy, fraction: 0.7, cap: 50_000, tokenCompression: false },
    ],
  ])('is %s', (_, operator, wished, expected) => {
    expect(policyOf(operator, wished)).toEqual(expected);
  });
});

describe('bodies', () => {
  it.each([
    [{}, false],
    [{ text: 'a', parts: [{ text: 'b' }] }, false],
    [{ text: 'a' }, true],
    [{ parts: [{ text: 'a' }, { image: { mediaType: 'image/png', data: 'AQI=' } }] }, true],
    [{ parts: [{ image: { mediaType: 'image/png', data: 'not base64!' } }] }, false],
  ])('a message %j is valid: %s', (body, valid) => {
    expect(messageBody.safeParse(body).success).toBe(valid);
  });

  it('reads an image into bytes', () => {
    const body = messageBody.parse({ parts: [{ image: { mediaType: 'image/png', data: 'AQI=' } }] });
    expect(partsOf(body)).toEqual([{ kind: { case: 'image', value: { mediaType: 'image/png', data: Buffer.from([1, 2]) } } }]);
  });

  it.each([
    [{ directory: '/a', gitUrl: 'https://x' }, false],
    [{ directory: 'relative' }, false],
    [{ gitRef: 'main', directory: '/a' }, false],
    [{ gitUrl: 'https://x', gitRef: 'main' }, true],
  ])('a workspace %j is valid: %s', (workspace, valid) => {
    expect(createBody.safeParse({ goal: 'g', workspace }).success).toBe(valid);
  });
});
