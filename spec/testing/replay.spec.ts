import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, map, of, take, timer, toArray } from 'rxjs';
import { JsonCodec } from '../../src/index.js';
import type { Codec, StreamHandler } from '../../src/index.js';
import { play, readLines, record, withoutContent, writeLine } from '../../src/inspect.js';
import type { Line, RecordedFrame } from '../../src/inspect.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { replay, virtualTime } from '../../src/testing.js';
import type { Pair, ReplayOptions, VirtualTime } from '../../src/testing.js';
import { createPair } from '../support/peer/tracked.js';
import { CLOCKS } from './clocks.js';
import type { Clock } from './clocks.js';

const LARGE = 'a"\\é€😀'.repeat(8_000);

/** Squares a number, ticks for a text, and returns everything else. */
const handler: StreamHandler = (payload: unknown, stream) => {
  if (typeof payload === 'number') return stream.reply(payload * payload);
  return payload === 'ticks' ? stream.sendAll(timer(10, 10).pipe(take(3))) : stream.reply(payload);
};

/** The calls of a client. */
function use({ dialer }: Pick<Pair, 'dialer'>): Promise<unknown[]> {
  const ticks = firstValueFrom(dialer.open$('ticks').pipe(toArray()));
  return Promise.all([ticks, dialer.request(12), dialer.request(LARGE, { headers: { a: 1 } })]);
}

const ANSWERS = [[0, 1, 2], 144, LARGE];

/** Frames as short texts, by stream. */
function texts(frames: readonly RecordedFrame[]): readonly string[] {
  const byStream = [...frames].sort((one, other) => Number(one['stream']) - Number(other['stream']));
  return byStream.map((f) => JSON.stringify({ ...f, fragment: JSON.stringify(f['fragment'])?.length }));
}

describe.each(CLOCKS)('replay in $kind time', ({ start }) => {
  let clock: Clock;

  beforeEach(() => {
    clock = start();
  });

  afterEach(() => {
    clock.stop();
  });

  async function recording(codec: Codec): Promise<string> {
    const pair = createPair({ codec });
    pair.acceptor.onStream(handler);
    const made = record(pair.dialer, { payloads: true });
    await clock.until(use(pair));
    return made.text;
  }

  it.each<[name: string, codec: Codec]>([
    ['json', new JsonCodec()],
    ['msgpack', new MsgpackCodec()],
  ])('A handler receives the recorded calls under %s, and its frames compare with the recorded ones', async (_, codec) => {
    const { peer, sent$, recorded, played, skipped } = replay(await recording(codec), { codec, onStream: handler });
    const sent = firstValueFrom(sent$.pipe(take(recorded.length), toArray()));
    expect(texts(await clock.until(sent))).toEqual(texts(recorded));
    await clock.until(played);
    expect([peer.isDialer, skipped]).toEqual([false, 0]);
    await clock.until(peer.close());
  });

  it('A client receives the recorded answers to its calls', async () => {
    const { peer, recorded, sent$ } = replay(await recording(new JsonCodec()), { side: 'acceptor' });
    expect(await clock.until(use({ dialer: peer }))).toEqual(ANSWERS);
    await clock.until(peer.close());
    expect(texts(await firstValueFrom(sent$.pipe(toArray())))).toEqual(texts(recorded));
  });

  it('A recording may be played at once', async () => {
    const { peer, recorded, sent$ } = replay(await recording(new JsonCodec()), { speed: Infinity, onStream: handler });
    expect(await clock.until(firstValueFrom(sent$.pipe(take(recorded.length), toArray())))).toHaveLength(recorded.length);
    await clock.until(peer.close());
  });
});

const LINE = { v: 1, t: 0, c: 1, d: '>' } as const;
const OPEN: Line = { ...LINE, f: { type: 'open', stream: 1, payload: 'x' } };

describe('replay', () => {
  let time: VirtualTime;

  beforeEach(() => {
    time = virtualTime();
  });

  afterEach(() => {
    time.restore();
  });

  it('A replay keeps the recorded time', async () => {
    const lines = [
      OPEN,
      { ...LINE, t: 500, f: { type: 'data', stream: 1, payload: 1 } },
      { ...LINE, t: 60_000, f: { type: 'reset', stream: 1, code: 8 } },
    ];
    const heard: unknown[] = [];
    const { peer } = replay(lines, {
      onStream: async (_, stream) => {
        stream.signal.addEventListener('abort', () => heard.push([time.now, 'abort']));
        for await (const value of stream) heard.push([time.now, value]);
      },
      onError: () => undefined,
    });
    await time.advance(100_000);
    expect(heard).toEqual([
      [500, 1],
      [60_000, 'abort'],
    ]);
    await Promise.all([time.advance(), peer.close()]);
  });

  it('A recorded answer keeps its distance to the open of the call', async () => {
    const lines: Line[] = [
      { ...OPEN, t: 1_000 },
      { ...LINE, t: 1_200, d: '<', f: { type: 'data', stream: 1, end: true, payload: 'y' } },
    ];
    const { peer } = replay(lines, { side: 'acceptor' });
    await time.advance(5_000);
    const answered = firstValueFrom(peer.request$('x').pipe(map((answer) => [answer, time.now])));
    await time.advance(5_000);
    expect(await answered).toEqual(['y', 5_200]);
    await Promise.all([time.advance(), peer.close()]);
  });

  it('A replay skips streams without an open, and messages that do not decode', async () => {
    const lines: Line[] = [{ ...LINE, f: { type: 'data', stream: 3, payload: 1 } }, { ...LINE, f: null }, OPEN];
    const { peer, skipped, sent$ } = replay(lines, { onStream: (payload, stream) => stream.reply(payload) });
    const sent = firstValueFrom(sent$);
    await time.advance(10);
    expect([skipped, await sent]).toEqual([2, { type: 'data', stream: 1, end: true, payload: 'x' }]);
    await Promise.all([time.advance(), peer.close()]);
  });

  it.each<[title: string, recording: string | readonly Line[], options: ReplayOptions, message: string]>([
    ['sizes only', [withoutContent(OPEN)], {}, 'expected a recording with payloads, got only sizes at 0 ms'],
    ['another connection', writeLine(OPEN), { connection: 2 }, 'expected frames of connection 2 in the recording, got none'],
    ['no recording', '{}', {}, 'expected a line of a recording'],
    ['another codec', [{ ...OPEN, f: { type: 'open', stream: 1, payload: new Uint8Array(1) } }], {}, "codec 'json': expected a value"],
    ['frames that no peer sends', [{ ...OPEN, f: { type: 'open', stream: 1, more: 1 } }], {}, "field 'more': expected a boolean"],
    ['bytes', new Uint8Array(2) as never, {}, "recording: expected a text, as readFileSync(path, 'utf8') returns, got an object"],
    ['a speed of 0', [OPEN], { speed: 0 }, 'speed: expected a number above 0, got 0'],
    ['another side', [OPEN], { side: 'server' as 'dialer' }, "side: expected 'dialer' or 'acceptor', got 'server'"],
  ])('A replay refuses %s at once', (_, recording, options, message) => {
    expect(() => replay(recording, options)).toThrow(message);
  });

  it('The frames of a side play on any wire', async () => {
    const played = firstValueFrom(play([OPEN], { side: 'dialer', heard$: of() }).pipe(toArray()));
    await time.advance();
    expect(await played).toEqual([OPEN.f]);
    expect(readLines(writeLine(OPEN))).toEqual([OPEN]);
  });
});
