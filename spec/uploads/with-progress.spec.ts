import { Readable } from 'node:stream';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { count, from, ignoreElements, lastValueFrom, map, mergeMap, range, Subject } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { z } from 'zod';
import { contract, upload } from '../../src/contract.js';
import { JsonCodec, QueueOverflowError, respond, SharedPayload } from '../../src/index.js';
import type { Codec, Input, Peer, Stream } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { connect, serve } from '../../src/node.js';
import { createPair } from '../../src/testing.js';
import { withProgress } from '../../src/uploads.js';
import { collectLogs } from '../support/peer/logs.js';
import { portOf } from '../support/socket/handshake.js';
import { turn, until } from '../support/socket/leaks.js';

const SLICE = new Uint8Array(40_000).fill(7);
const SLICES = 50;
const TOTAL = SLICE.length * SLICES;

function* slices(): Generator<Uint8Array> {
  for (let n = 0; n < SLICES; n++) yield SLICE;
}

async function* later(): AsyncGenerator<Uint8Array> {
  for (const slice of slices()) {
    await turn();
    yield slice;
  }
}

/** Every kind of input that carries bytes. */
const INPUTS: readonly (readonly [string, () => Input<Uint8Array>])[] = [
  ['one payload of bytes', () => [new Uint8Array(TOTAL)]],
  ['an array', () => [...slices()]],
  ['a generator', slices],
  ['an async generator', later],
  ['a function', () => () => slices()],
  ['a Blob', () => new Blob([new Uint8Array(TOTAL)])],
  ['an Observable', () => from(slices())],
  ['an Observable that emits later', () => from(later())],
  ['a stream of Node', () => Readable.from(slices())],
  ['a ReadableStream', () => new Blob([new Uint8Array(TOTAL)]).stream()],
];

/** Uploads an input, and resolves with the last payload of the answer. */
function send(peer: Peer, input: Input<unknown>): Promise<unknown> {
  return lastValueFrom(peer.open$('go', { input, retry: typeof input === 'function' && 'safe' }));
}

describe('withProgress', () => {
  const logs = collectLogs();
  let ending: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ending.reverse()) await end();
    ending = [];
  });

  /** A peer of a server that reads uploads by `read`. */
  const dial = async (read: (payloads: Stream) => ObservableInput<unknown>, codec: Codec = new MsgpackCodec()): Promise<Peer> => {
    const server = serve({ port: 0, host: '127.0.0.1', codec });
    const answers = respond((_payload, payloads: Stream) => read(payloads));
    server.peers$.pipe(mergeMap((peer) => peer.streams$.pipe(answers))).subscribe();
    await server.listening;
    const peer = connect(`ws://127.0.0.1:${portOf(server)}`, { codec });
    ending.push(
      () => server.close(),
      () => peer.close(),
    );
    return peer;
  };

  it.each(INPUTS)('The bytes of %s rise to their sum, and none is counted before it has arrived', async (_, make) => {
    let arrived = 0;
    const peer = await dial(async function* (payloads) {
      for await (const slice of payloads) arrived += (slice as Uint8Array).byteLength;
      yield 'done';
    });
    const taken: number[] = [];
    const early: number[] = [];
    const input = withProgress(peer, make(), (bytes) => {
      taken.push(bytes);
      // A reader gets a payload some turns after it has arrived.
      if (bytes > arrived + 4 * 1024 * 1024) early.push(bytes);
    });
    expect(await send(peer, input)).toBe('done');
    await until('the last bytes', () => taken.at(-1) === TOTAL);
    expect(arrived).toBe(TOTAL);
    expect(taken).toEqual([...new Set(taken)].sort((a, b) => a - b));
    expect(early).toEqual([]);
  });

  it('Other payloads count with the bytes of their codec, and are encoded once', async () => {
    const codec = new JsonCodec();
    let encodings = 0;
    const item = { toJSON: () => (encodings++, { name: 'Ann', age: 7 }) };
    const peer = await dial(async function* (payloads) {
      const received: unknown[] = [];
      for await (const payload of payloads) received.push(payload);
      yield received;
    }, codec);
    const taken: number[] = [];
    const input = withProgress<unknown>(peer, [item, new SharedPayload('four'), 7], (bytes) => taken.push(bytes));
    expect(await send(peer, input)).toEqual([{ name: 'Ann', age: 7 }, 'four', 7]);
    await until('the last bytes', () => taken.at(-1) === '{"name":"Ann","age":7}"four"7'.length);
    expect(encodings).toBe(1);
  });

  it('Bytes of each kind count as they are', async () => {
    const peer = await dial(() => from(['done']));
    const taken: number[] = [];
    const kinds = [new ArrayBuffer(300), new Uint8Array(300), new DataView(new ArrayBuffer(300))];
    await send(
      peer,
      withProgress<unknown>(peer, kinds, (bytes) => taken.push(bytes)),
    );
    await until('the last bytes', () => (taken.at(-1) ?? 0) >= 900);
    expect(taken.at(-1)).toBe(900);
  });

  it('The bytes stop where a reader stops, and go on with it', async () => {
    const gate$ = new Subject<void>();
    const big = new Uint8Array(1024 * 1024);
    const pieces = 40;
    const peer = await dial(async function* (payloads) {
      let nth = 0;
      for await (const payload of payloads)
        if (payload !== null && ++nth === 1) await new Promise<void>((resolve) => gate$.subscribe(() => resolve()));
      yield nth;
    });
    const taken: number[] = [];
    const input = withProgress(
      peer,
      Array.from({ length: pieces }, () => big),
      (bytes) => taken.push(bytes),
    );
    const reply = send(peer, input);
    await until('some bytes', () => taken.length > 0);
    for (let n = 0; n < 200; n++) await turn();
    expect(taken.at(-1)).toBeLessThan(pieces * big.length);
    gate$.next();
    expect(await reply).toBe(pieces);
    await until('the last bytes', () => taken.at(-1) === pieces * big.length);
  });

  it('A call that is stopped reports no more, and releases its input', async () => {
    const peer = await dial(() => new Subject());
    let isReleased = false;
    const taken: number[] = [];
    const endless = (function* () {
      try {
        for (;;) yield SLICE;
      } finally {
        isReleased = true;
      }
    })();
    const calling = peer.open$('go', { input: withProgress(peer, endless, (bytes) => taken.push(bytes)) }).subscribe();
    await until('some bytes', () => taken.length > 0);
    calling.unsubscribe();
    const { length } = taken;
    await peer.ping();
    expect([isReleased, taken.length]).toEqual([true, length]);
  });

  it.each([
    [
      'a generator',
      () =>
        (function* () {
          yield SLICE;
          throw new RangeError('the disk is gone');
        })(),
    ],
    [
      'an async generator',
      () =>
        (async function* () {
          await turn();
          yield SLICE;
          throw new RangeError('the disk is gone');
        })(),
    ],
  ])('A call whose input fails as %s reports no more', async (_, make) => {
    const peer = await dial(() => new Subject());
    const taken: number[] = [];
    await expect(
      send(
        peer,
        withProgress(peer, make(), (bytes) => taken.push(bytes)),
      ),
    ).rejects.toThrow('the disk is gone');
    await peer.ping();
    expect(taken).toEqual([]);
  });

  it('A ping that is lost ends no report', async () => {
    const peer = await dial(async function* (payloads) {
      await lastValueFrom(payloads.pipe(ignoreElements()), { defaultValue: null });
      yield 'done';
    });
    jest.spyOn(peer, 'ping').mockRejectedValueOnce(new Error('the socket is gone'));
    const taken: number[] = [];
    expect(
      await send(
        peer,
        withProgress(peer, later(), (bytes) => taken.push(bytes)),
      ),
    ).toBe('done');
    await until('the last bytes', () => taken.at(-1) === TOTAL);
  });

  it('An Effect is refused with the line that runs it', async () => {
    const peer = await dial(() => new Subject());
    const effect = {
      '~effect/Effect': {},
      *[Symbol.iterator]() {
        yield 1;
      },
    };
    await expect(
      send(
        peer,
        withProgress<unknown>(peer, effect, () => undefined),
      ),
    ).rejects.toThrow('Effect.runPromise(effect)');
  });

  it('A call that fails before it sends anything releases its input', async () => {
    const peer = await dial(() => []);
    await peer.close();
    let isCancelled = false;
    const stream = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) });
    await expect(
      send(
        peer,
        withProgress(peer, stream, () => undefined),
      ),
    ).rejects.toThrow();
    await until('the release', () => isCancelled);
  });

  it('The upload of a contract takes it as its input', async () => {
    const api = contract({ store: upload({ input: z.string(), reply: z.number() }) });
    const { dialer, calls } = createPair(api, { store: (_, { input }) => input.pipe(count()) });
    const taken: number[] = [];
    expect(
      await calls.store.promise(
        undefined,
        withProgress(dialer, ['a', 'b'], (bytes) => taken.push(bytes)),
      ),
    ).toBe(2);
    await until('the bytes', () => taken.at(-1) === '"a""b"'.length);
  });

  it('A second attempt needs a function, and begins at 0', async () => {
    const peer = await dial(async function* (payloads) {
      await lastValueFrom(payloads.pipe(ignoreElements()), { defaultValue: null });
      yield 'done';
    });
    const input = withProgress(peer, [SLICE], () => undefined);
    await send(peer, input);
    await expect(send(peer, input)).rejects.toThrow('or a function that makes a fresh one');
    const taken: number[] = [];
    const again = () => withProgress(peer, [SLICE], (bytes) => taken.push(bytes));
    for (let n = 0; n < 2; n++) await send(peer, again);
    await until('the bytes', () => taken.length === 2);
    expect(taken).toEqual([SLICE.length, SLICE.length]);
  });

  it('Errors of the input, and of the codec, end the call', async () => {
    const peer = await dial(() => new Subject());
    const failing = (function* () {
      yield SLICE;
      throw new RangeError('the disk is gone');
    })();
    const sends = (input: Input<unknown>) =>
      send(
        peer,
        withProgress(peer, input, () => undefined),
      );
    await expect(sends(failing)).rejects.toThrow('the disk is gone');
    await expect(sends([() => undefined])).rejects.toThrow(/function/);
    const mib = new Uint8Array(1024 * 1024);
    await expect(sends(range(0, 70).pipe(map(() => mib)))).rejects.toBeInstanceOf(QueueOverflowError);
  });

  it('An `onProgress` that throws ends nothing, and the log says so', async () => {
    const peer = await dial(async function* (payloads) {
      await lastValueFrom(payloads.pipe(ignoreElements()), { defaultValue: null });
      yield 'done';
    });
    const input = withProgress(peer, [SLICE], () => {
      throw new Error('no such bar');
    });
    expect(await send(peer, input)).toBe('done');
    await until('a line', () => logs.errors.length + logs.warnings.length > 0);
    expect([...logs.errors, ...logs.warnings]).toEqual([expect.stringContaining('onProgress')]);
  });

  it.each<[string, unknown, unknown, unknown]>([
    ['withProgress: expected a Peer, got 7', 7, [], () => undefined],
    ['withProgress.onProgress: expected a function, got undefined', null, [], undefined],
    ['got bytes', null, SLICE, () => undefined],
  ])('`withProgress` refuses with: %s', async (message, peer, input, onProgress) => {
    const given = peer ?? (await dial(() => []));
    const call = (): unknown => withProgress(given as never, input as [], onProgress as () => void);
    expect(call).toThrow(TypeError);
    expect(call).toThrow(message);
  });
});
