import { afterEach, describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { LINE_KINDS } from '../support/socket/lines.js';
import type { Line } from '../support/socket/lines.js';

const BURN_MS = 20;
const REQUESTS = 12;
const MAY_SHARE_A_TURN = 3;

/** Counts turns of the event loop until it is stopped. */
class Turns {
  count = 0;
  #next = setImmediate(() => {
    this.#pass();
  });

  stop(): void {
    clearImmediate(this.#next);
  }

  #pass(): void {
    this.count++;
    this.#next = setImmediate(() => {
      this.#pass();
    });
  }
}

function burn(): void {
  for (const end = performance.now() + BURN_MS; performance.now() < end;);
}

let turns: Turns;
let line: Line;

afterEach(async () => {
  turns.stop();
  await line.dispose();
});

describe.each(LINE_KINDS.filter(({ name }) => name === 'ws' || name === 'ws over TLS'))('reads over $name', (kind) => {
  it.each([
    ['json', new JsonCodec(), 'x'],
    ['json, over 1 KiB each', new JsonCodec(), 'x'.repeat(2_000)],
    ['msgpack', new MsgpackCodec(), 'x'],
  ])('A server handles slow requests of one read in several turns of the event loop (%s)', async (_what, codec, payload) => {
    turns = new Turns();
    const seen: number[] = [];
    line = await kind.join({
      codec,
      acceptor: {
        handler: (_payload, stream) => {
          seen.push(turns.count);
          burn();
          return stream.reply(seen.length);
        },
      },
    });
    const answers = await Promise.all(Array.from({ length: REQUESTS }, () => line.dialer.request(payload)));
    expect(answers).toEqual(Array.from({ length: REQUESTS }, (_, n) => n + 1));
    expect(new Set(seen).size).toBeGreaterThanOrEqual(REQUESTS / MAY_SHARE_A_TURN);
  });
});
