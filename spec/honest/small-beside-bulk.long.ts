import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { JsonCodec } from '../../src/index.js';
import type { Codec, StreamHandler } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import { percentile } from '../chaos/figures.js';
import { LongLine } from '../support/socket/long-line.js';

const KIB = 1024;
/** Between a small answer and the next small request. */
const REST_MS = 20;
const SLICE_BYTES = 48 * KIB;
const UNANSWERED = 3;
const ROW_BYTES = 1_000;
const RTT_MS = 40;

type Way = 'download' | 'upload' | 'rows';

/** One transfer over a line, and small requests beside it. */
interface Ends {
  readonly transfer: () => Promise<unknown>;
  readonly small: () => Promise<unknown>;
}

/** The times of a transfer and of the small requests beside it, in ms. */
interface Seen {
  readonly transferMs: number;
  readonly waits: readonly number[];
}

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function timed(run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}

/** Transfers once, and makes small requests one after the other from before the transfer until its end. */
async function beside({ transfer, small }: Ends): Promise<Seen> {
  // The first request takes longer: its code is cold.
  await small();
  const state = { done: false };
  const calling = (async () => {
    const waits: number[] = [];
    while (!state.done) {
      waits.push(await timed(small));
      await wait(REST_MS);
    }
    return waits;
  })();
  const transferMs = await timed(transfer);
  state.done = true;
  return { transferMs, waits: await calling };
}

async function portOf(target: number, bytesPerMs: number): Promise<number> {
  const line = await LongLine.listen(target, bytesPerMs, RTT_MS);
  closers.push(() => {
    line.close();
  });
  return line.port;
}

/** Both ends of rxmux with default options. */
async function rxmux(bytesPerMs: number, bytes: number, way: Way, codecOf: () => Codec): Promise<Ends> {
  const big = codecOf() instanceof MsgpackCodec ? new Uint8Array(bytes) : 'x'.repeat(bytes);
  const onStream: StreamHandler = (payload, stream) => {
    if (payload === 'rows') return stream.sendAll(Array.from({ length: bytes / ROW_BYTES }, () => 'x'.repeat(ROW_BYTES)));
    return stream.reply(payload === 'download' ? big : 'small');
  };
  const server = serve({ port: 0, codec: codecOf(), onStream });
  closers.push(() => server.close());
  const { port } = await server.listening;
  const peer = connect(`ws://127.0.0.1:${await portOf(port, bytesPerMs)}`, { codec: codecOf(), reconnect: false });
  closers.push(() => peer.close());
  await peer.opened;
  const request = (payload: unknown) => () => peer.request(payload, { timeoutMs: 0 });
  const read = async (): Promise<void> => {
    for await (const row of peer.open('rows', { end: true })) if (row === null) return;
  };
  return { transfer: way === 'rows' ? read : request(way === 'download' ? way : big), small: request('small') };
}

/** A hand-written wire over bare `ws`. The sender has at most three slices unanswered, and sends small messages in between. */
async function bare(bytesPerMs: number, bytes: number, way: Way): Promise<Ends> {
  const server = new WebSocketServer({ port: 0, perMessageDeflate: false });
  closers.push(() => {
    server.close();
  });
  await once(server, 'listening');
  const dialed = new WebSocket(`ws://127.0.0.1:${await portOf((server.address() as AddressInfo).port, bytesPerMs)}`);
  const [[accepted]] = (await Promise.all([once(server, 'connection'), once(dialed, 'open')])) as [[WebSocket], unknown];
  closers.push(() => {
    dialed.terminate();
  });
  const [from, to] = way === 'download' ? [accepted, dialed] : [dialed, accepted];
  let left = bytes;
  const slice = (): void => {
    if (left <= 0) return;
    from.send(new Uint8Array(Math.min(SLICE_BYTES, left)));
    left -= SLICE_BYTES;
  };
  to.on('message', (_data, isBinary) => {
    if (isBinary) to.send('arrived');
  });
  accepted.on('message', (data: Buffer, isBinary) => {
    if (!isBinary && data.toString() === 'small') accepted.send('small');
  });
  const answered = (socket: WebSocket, text: string) =>
    new Promise<void>((resolve) => {
      const on = (data: Buffer): void => {
        if (data.toString() !== text) return;
        socket.off('message', on);
        resolve();
      };
      socket.on('message', on);
    });
  return {
    transfer: async () => {
      const slices = Math.ceil(bytes / SLICE_BYTES);
      let arrived = 0;
      const done = new Promise<void>((resolve) => {
        from.on('message', (data: Buffer) => {
          if (data.toString() !== 'arrived') return;
          if (++arrived === slices) resolve();
          slice();
        });
      });
      for (let nth = 0; nth < UNANSWERED; nth++) slice();
      await done;
    },
    small: async () => {
      const answer = answered(dialed, 'small');
      dialed.send('small');
      await answer;
    },
  };
}

const CODECS = { json: () => new JsonCodec(), msgpack: () => new MsgpackCodec() };

/** One of our slices is a third larger than a slice of the reference. */
const MOST_RATIO = 1.36;
/** A pause of the machine delays single requests, so the longest ones show the machine. The rest shows what a request waits behind. */
const longMs = ({ waits }: Seen): number => percentile(waits, 75);

describe('small requests beside a transfer, with the default options', () => {
  it.each([
    ['4 Mbit/s', 500, 3_000_000],
    ['1 Mbit/s', 125, 1_500_000],
    ['256 kbit/s', 32, 500_000],
  ])(
    'Over a line of %s, a small request waits as it does on a bare socket behind three slices of 48 KiB',
    async (_line, bytesPerMs, bytes) => {
      const ways: readonly Way[] = ['download', 'upload'];
      let ratio = Infinity;
      // A busy machine delays some rounds, but no round hides a larger window.
      for (let round = 0; round < 3 && ratio >= MOST_RATIO; round++) {
        const ends = await Promise.all([
          bare(bytesPerMs, bytes, 'download'),
          rxmux(bytesPerMs, bytes, 'rows', CODECS.json),
          ...ways.flatMap((way) => Object.values(CODECS).map((codecOf) => rxmux(bytesPerMs, bytes, way, codecOf))),
        ]);
        const [reference = 0, ...ours] = (await Promise.all(ends.map(beside))).map(longMs);
        ratio = Math.min(ratio, Math.max(...ours) / reference);
      }
      expect(ratio).toBeLessThan(MOST_RATIO);
    },
    120_000,
  );
});
