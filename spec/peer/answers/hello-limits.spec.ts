import { describe, expect, it } from '@jest/globals';
import type { StreamHandler } from '../../../src/index.js';
import { DEFAULT_HELLO_LIMITS, narrowed, resolveHelloLimits } from '../../../src/peer/hello.js';
import { DEFAULT_LIMITS, resolveLimits } from '../../../src/wire/limits.js';
import type { Limits } from '../../../src/wire/limits.js';
import { echo, greeted, later, welcome } from '../../support/peer/dialing.js';
import { collectLogs } from '../../support/peer/logs.js';
import { framesOf } from '../../support/peer/frames.js';
import type { Envelope } from '../../support/peer/frames.js';
import type { NetworkOptions } from '../../support/peer/network.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
collectLogs();

const KIB = 1024;
const NEVER: StreamHandler = () => new Promise(() => undefined);
const { maxPayloadBytes, maxPayloadItems, maxHeldBytes } = DEFAULT_HELLO_LIMITS;

/** JSON of exactly `bytes` bytes. */
const text = (bytes: number): string => 'x'.repeat(bytes - 2);

/** An acceptor, and a dialer without the library that sends the given frames. */
async function accepting(options: NetworkOptions) {
  const { network } = greeted({}, { helloTimeoutMs: 60_000, onStream: echo, ...options });
  const { link, peer } = network.last;
  const sent = framesOf(peer);
  await time.advance();
  const send = async (...frames: readonly Envelope[]): Promise<void> => {
    for (const frame of frames) link.inject('acceptor', JSON.stringify(frame));
    await time.advance(10);
  };
  return { sent, send, peer };
}

/** The frames of an open whose payload is JSON of `bytes` bytes, in slices of 32 KiB. */
function opened(stream: number, bytes: number): readonly Envelope[] {
  const json = JSON.stringify(text(bytes));
  const slices: Envelope[] = [];
  for (let from = 0; from < json.length; from += 32 * KIB)
    slices.push({ type: 'open', stream, fragment: json.slice(from, from + 32 * KIB), more: true });
  return [...slices.slice(0, -1), { ...slices.at(-1), more: false, end: true }];
}

const begun = (stream: number, bytes: number): Envelope => ({ type: 'open', stream, fragment: 'x'.repeat(bytes), more: true });
const items = (count: number): readonly number[] => Array.from({ length: count - 1 }, () => 0);

describe('Acceptor before it has accepted the hello', () => {
  it('An acceptor accepts a hello of 64 KiB', async () => {
    const { sent, send } = await accepting({ onHello: (_, stream) => stream.reply('welcome') });
    await send(...opened(1, maxPayloadBytes));
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true, payload: 'welcome' }]);
  });

  it.each<[string, readonly Envelope[], string]>([
    ['in fragments', opened(1, maxPayloadBytes + 1), `payload of at least ${maxPayloadBytes + 1} bytes`],
    ['in one piece', [{ type: 'open', stream: 1, payload: text(maxPayloadBytes + 1) }], `payload of ${maxPayloadBytes + 1} bytes`],
  ])('An acceptor resets a hello over 64 KiB with PAYLOAD_TOO_LARGE and a reason that names the hello: %s', async (_how, frames, what) => {
    const { sent, send } = await accepting({ onHello: welcome });
    await send(...frames);
    const reason = `${what} is over the limit of ${maxPayloadBytes} (maxPayloadBytes), before the hello was accepted`;
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 6, reason }]);
  });

  it('An acceptor ends a connection for a message of more than 10 000 items', async () => {
    const { sent, send, peer } = await accepting({ onHello: welcome });
    await send({ type: 'open', stream: 1, payload: items(maxPayloadItems + 1) });
    const reason = `codec 'json': expected at most ${maxPayloadItems} items (maxPayloadItems), got more, before the hello was accepted`;
    expect(sent).toEqual([{ type: 'goaway', code: 1, last_stream: 0, reason }]);
    expect(await peer.closed).toMatchObject({ code: 1002, reason });
  });

  it('An acceptor resets a stream for fragments of more than 10 000 items', async () => {
    const { sent, send } = await accepting({ onHello: welcome });
    const json = JSON.stringify(items(maxPayloadItems + 1));
    await send(
      { type: 'open', stream: 1, fragment: json.slice(0, 9), more: true },
      { type: 'open', stream: 1, fragment: json.slice(9), end: true },
    );
    const reason = `codec 'json': expected at most ${maxPayloadItems} items (maxPayloadItems), got more, before the hello was accepted`;
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 1, reason }]);
  });

  it('An acceptor holds 1 MiB of unfinished payloads, and resets the stream that exceeds it', async () => {
    const { sent, send } = await accepting({ onHello: NEVER });
    const pieces = maxHeldBytes / (32 * KIB);
    await send(...Array.from({ length: pieces }, (_, nth) => begun(1 + 2 * nth, 32 * KIB)));
    expect(sent).toEqual([]);
    await send(begun(1 + 2 * pieces, 1));
    const reason = `${maxHeldBytes + 64} bytes held by this connection are over the limit of ${maxHeldBytes} (maxHeldBytes), before the hello was accepted`;
    expect(sent).toEqual([{ type: 'reset', stream: 1 + 2 * pieces, code: 11, reason }]);
  });

  it('An acceptor counts headers in the same limit', async () => {
    const { sent, send } = await accepting({ onHello: NEVER });
    await send({ type: 'open', stream: 1, headers: { token: 'x'.repeat(maxHeldBytes - 100) } });
    expect(sent).toEqual([
      expect.objectContaining({
        type: 'reset',
        code: 11,
        reason: expect.stringMatching(/\(maxHeldBytes\), before the hello was accepted$/),
      }),
    ]);
  });

  it('An acceptor applies the same limits to the answers to its own calls', async () => {
    const { send, peer } = await accepting({ onHello: NEVER });
    const answer = expect(peer.request('who are you')).rejects.toThrow(/maxPayloadBytes\), before the hello was accepted/);
    await send({ type: 'data', stream: 2, payload: text(maxPayloadBytes + 1), end: true });
    await answer;
  });
});

describe('Acceptor after it has accepted the hello', () => {
  const answers: readonly (readonly [string, StreamHandler])[] = [
    ['by a reply', (_, stream) => stream.reply()],
    ['by a payload, while its handler continues', (payload, stream) => (void stream.send('welcome'), NEVER(payload, stream))],
    ['by an end', (payload, stream) => (void stream.end(), NEVER(payload, stream))],
    ['by its handler’s end', () => undefined],
  ];

  it.each(answers)('An acceptor that has accepted the hello applies its own limits: %s', async (_how, onHello) => {
    const { sent, send, peer } = await accepting({ onHello, onStream: (_, stream) => stream.reply('taken') });
    await send({ type: 'open', stream: 1, payload: 'me', end: true });
    await send(
      ...opened(3, 3 * maxPayloadBytes),
      { type: 'open', stream: 5, payload: items(2 * maxPayloadItems), end: true },
      ...[7, 9, 11].map((stream) => begun(stream, maxHeldBytes / 2)),
    );
    const taken = [3, 5].map((stream) => ({ type: 'data', stream, end: true, payload: 'taken' }));
    expect(sent.filter(({ stream }) => Number(stream) > 1)).toEqual(taken);
    expect(peer.status.state).toBe('open');
  });

  it('An acceptor that has accepted the hello does not mention it in the reason of a reset', async () => {
    const { sent, send } = await accepting({ onHello: (_, stream) => stream.reply(), limits: { maxPayloadBytes: 100 * KIB } });
    await send({ type: 'open', stream: 1, payload: 'me', end: true }, ...opened(3, 100 * KIB + 1));
    expect(sent.at(-1)).toEqual({
      type: 'reset',
      stream: 3,
      code: 6,
      reason: `payload of at least ${100 * KIB + 1} bytes is over the limit of ${100 * KIB} (maxPayloadBytes)`,
    });
  });

  it.each<[string, StreamHandler]>([
    ['sends headers alone', (payload, stream) => (stream.sendHeaders({ server: 'a' }), NEVER(payload, stream))],
    ['resets the hello', (_, stream) => (stream.reset(300, 'not you'), NEVER(null, stream))],
  ])('An acceptor keeps the narrow limits when it %s', async (_what, onHello) => {
    const { sent, send } = await accepting({ onHello });
    await send({ type: 'open', stream: 1, payload: 'me', end: true });
    await send(...opened(3, maxPayloadBytes + 1));
    expect(sent.at(-1)).toMatchObject({ type: 'reset', stream: 3, code: 6 });
  });
});

describe('Dialer that sends a hello', () => {
  it('A dialer may make large calls at once: they wait for the answer to the hello', async () => {
    const { peer } = greeted({ hello: () => ({ payload: 'me' }) }, { onHello: later(100, welcome), onStream: echo });
    const load = text(2 * maxHeldBytes);
    const answers = Promise.all([peer.request(load), peer.request(items(2 * maxPayloadItems))]);
    await time.advance(500);
    expect((await answers).map((answer) => JSON.stringify(answer).length)).toEqual([
      load.length + 2,
      JSON.stringify(items(2 * maxPayloadItems)).length,
    ]);
  });

  it('A dialer reports in the error of its dial that its hello was too large', async () => {
    const { peer } = greeted({ hello: () => ({ payload: text(maxPayloadBytes + 1) }) });
    const failed = expect(peer.opened).rejects.toMatchObject({
      code: 'RESET',
      resetCode: 6,
      reason: expect.stringContaining('(maxPayloadBytes), before the hello was accepted'),
    });
    await time.advance(3_000);
    await failed;
  });

  it('A dialer gets the limits of the peer when the acceptor expects no hello', async () => {
    const { sent, send } = await accepting({});
    await send(...opened(1, 3 * maxPayloadBytes));
    expect(sent.filter(({ type }) => type === 'reset')).toEqual([]);
  });
});

describe('helloLimits', () => {
  it('`helloLimits` may be wider than the defaults', async () => {
    const { sent, send } = await accepting({
      onHello: (_, stream) => stream.reply('welcome'),
      helloLimits: { maxPayloadBytes: 200 * KIB },
    });
    await send(...opened(1, 200 * KIB));
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true, payload: 'welcome' }]);
  });

  it.each<[string, Partial<Limits>]>([
    ['maxPayloadBytes', { maxPayloadBytes: 1 }],
    ['maxPayloadItems', { maxPayloadItems: 1 }],
    ['maxHeldBytes', { maxHeldBytes: 1 }],
  ])('`helloLimits` are never wider than `limits`: %s', (_name, limits) => {
    const wide = resolveLimits(limits);
    expect(narrowed(wide, resolveHelloLimits({ maxHeldBytes: Infinity }))).toMatchObject(limits);
  });

  it('`helloLimits` narrow the limits of the peer', () => {
    expect(narrowed(DEFAULT_LIMITS, DEFAULT_HELLO_LIMITS)).toMatchObject(DEFAULT_HELLO_LIMITS);
  });

  it.each<[unknown, string]>([
    [{ maxStreams: 5 }, "helloLimits: expected one of maxPayloadBytes, maxPayloadItems, maxHeldBytes, got 'maxStreams'"],
    [{ maxPayloadItems: 0 }, 'helloLimits.maxPayloadItems: expected a number of at least 1, got 0'],
    [{ maxHeldBytes: '1' }, "helloLimits.maxHeldBytes: expected a number of at least 0, got '1'"],
    [5, 'helloLimits: expected an object, got 5'],
  ])('`resolveHelloLimits` throws for %p', (given, message) => {
    expect(() => resolveHelloLimits(given as object)).toThrow(new TypeError(message));
  });
});
