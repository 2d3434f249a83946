import { create } from '@bufbuild/protobuf';
import { task } from '@nightshift/contracts';
import { emptyReceipt, foldStop } from './receipt';
import type { StopNeeds } from './receipt';

const reply = (
  party: string,
  instance: string,
  over: Partial<Omit<task.StopReply, '$typeName' | '$unknown'>> = {},
): task.StopReply => create(task.StopReplySchema, { party, instance, idle: true, ...over });
const needs: StopNeeds = { gateway: true, runner: 'r1', compactor: false };
const asked = emptyReceipt(1_000);

describe('the receipt of a cancel', () => {
  it('is complete when every needed party is idle', () => {
    const replies = [
      reply('provider-gateway', 'g1', { stopped: 1, lastProviderByteMs: 1_005n, upstreamClosedMs: 1_010n, tokensBilled: 70n }),
      reply('tool-runner', 'r1', { processesEnded: 2 }),
    ];
    expect(foldStop(asked, needs, replies, 1_020)).toEqual({
      askedAt: 1_000,
      lastProviderByte: 1_005,
      upstreamClosed: 1_010,
      callsStartedAfter: 0,
      tokensBilled: 70,
      processesEnded: 2,
      complete: true,
      completedAt: 1_020,
      confirmations: ['provider-gateway/g1', 'tool-runner/r1'],
      parties: { 'provider-gateway/g1': { billed: 70, processes: 0 }, 'tool-runner/r1': { billed: 0, processes: 2 } },
    });
  });

  it.each([
    ['a silent runner keeps it open', [reply('provider-gateway', 'g1')]],
    ['another runner is no answer of this one', [reply('provider-gateway', 'g1'), reply('tool-runner', 'r2')]],
    [
      'anybody still busy keeps it open',
      [reply('provider-gateway', 'g1'), reply('tool-runner', 'r1'), reply('compactor', 'c', { idle: false })],
    ],
  ])('%s', (_rule, replies) => {
    expect(foldStop(asked, needs, replies, 1_020)).toMatchObject({ complete: false, completedAt: 0 });
  });

  it('a later round completes an earlier one', () => {
    const first = foldStop(asked, needs, [reply('provider-gateway', 'g1')], 1_020);
    expect(foldStop(first, needs, [reply('tool-runner', 'r1')], 1_040)).toMatchObject({ complete: true, completedAt: 1_040 });
  });
});
