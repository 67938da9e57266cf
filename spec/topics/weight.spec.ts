import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { respond } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { answerTopic, memoryLog, topic } from '../../src/topics.js';
import type { TopicItem } from '../../src/topics.js';

const TOPICS = 500;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heap(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

describe('the weight of topics', () => {
  it('A followed topic takes at most 6 KiB of heap: both ends and its log', async () => {
    const { dialer, acceptor } = createPair({ acceptor: { limits: { maxStreams: 3 * TOPICS } } });
    acceptor.streams$.pipe(respond((since: string | null) => answerTopic(memoryLog<string>(), since))).subscribe();
    const follow = async (): Promise<void> => {
      for (let nth = 0; nth < TOPICS; nth++)
        topic(dialer, (since: string | null) => dialer.open$<TopicItem<string>>(since, { retry: 'safe' })).subscribe();
      // The pong comes behind the first item of each topic.
      await dialer.ping();
      await dialer.ping();
    };
    await follow();
    const before = heap();
    await follow();
    expect((heap() - before) / TOPICS).toBeLessThan(6 * 1_024);
    expect(acceptor.stats().limits.maxStreams.used).toBe(2 * TOPICS);
  });
});
