import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { filter, firstValueFrom, map, NEVER, of, Subject, take, toArray } from 'rxjs';
import { connect, logger } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { describeLine, inspect, Omitted, readLine, readLines, record, withoutContent, writeLine } from '../../src/inspect.js';
import type { InspectorLine, Line, RecordOptions } from '../../src/inspect.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { createPair as createPairFromTesting, createServer, virtualTime } from '../../src/testing.js';
import fc from '../support/fast-check.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';

const line = (f: Line['f']): Line => ({ v: 1, t: 3, c: 1, d: '>', f });
const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);

/** Values of every codec, and objects that look like the forms of a recording. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.jsonValue({ maxDepth: 1 }),
    fc.double(),
    fc.bigInt(),
    fc.uint8Array(),
    fc.date({ noInvalidDate: false }),
    fc.constantFrom(-0, NaN, Infinity, undefined),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 }).map((entries) => new Map(entries)),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => new Set(items)),
    fc.dictionary(
      fc.constantFrom('$base64', '$date', '$size', '$number', '$bigint', '$undefined', '$map', '$set', '$object', '__proto__', 'a'),
      tie('value'),
      {
        maxKeys: 2,
      },
    ),
  ),
}));

describe('a line of a recording', () => {
  it('A line of a recording reads as it was written, whatever its payload', () => {
    fc.assert(
      fc.property(value, (payload) => {
        const written = line({ type: 'data', stream: 1, payload });
        const text = writeLine(written);
        expect(text).not.toContain('\n');
        expect(readLine(text)).toEqual(written);
      }),
    );
  });

  it('An invalid date of a recording stays invalid', () => {
    expect(String(readLine(writeLine(line({ payload: new Date(NaN) }))).f?.['payload'])).toBe('Invalid Date');
  });

  it('A line of a recording has bytes in base64, from any view of them', () => {
    const view = new DataView(bytes.buffer, 1, 2);
    expect(writeLine(line({ type: 'data', fragment: view }))).toContain('"fragment":{"$base64":"AQI="}');
    expect(JSON.parse(writeLine(line({ payload: bytes })))).toMatchObject({
      f: { payload: { $base64: Buffer.from(bytes).toString('base64') } },
    });
  });

  it('A line of a recording has objects in their own form, as the codecs send them', () => {
    const money = { cents: 5n, toJSON: (key: string) => `${key}: 0.05` };
    const itself = {
      a: 1,
      toJSON() {
        return this;
      },
    };
    const boxes = [Object('a'), Object(-0), Object(false)] as unknown[];
    const text = writeLine(line({ payload: { at: new URL('http://a/b'), list: [money], money, itself, boxes } }));
    expect(readLine(text).f?.['payload']).toMatchObject({
      at: 'http://a/b',
      list: ['0: 0.05'],
      money: 'money: 0.05',
      itself: { a: 1 },
      boxes: ['a', -0, false],
    });
    expect(withoutContent(line({ payload: new URL('http://a/b') })).f).toEqual({ payload: new Omitted('"http://a/b"'.length) });
  });

  it('A line of a recording without its content has its size', () => {
    const omitted = (payload: unknown) => withoutContent(line({ type: 'open', stream: 1, payload, headers: { a: 1 } }));
    expect(omitted('secret')).toEqual(line({ type: 'open', stream: 1, payload: new Omitted(6), headers: new Omitted(7) }));
    expect(omitted(bytes).f).toMatchObject({ payload: new Omitted(70_000) });
    expect(omitted({ a: [1] }).f).toMatchObject({ payload: new Omitted('{"a":[1]}'.length) });
    expect([omitted('é').f, omitted({ é: 1 }).f]).toMatchObject([{ payload: new Omitted(2) }, { payload: new Omitted(8) }]);
    expect(withoutContent(line(null))).toEqual(line(null));
    expect(readLine(writeLine(omitted('secret')))).toEqual(omitted('secret'));
    expect(withoutContent(omitted('secret'))).toEqual(omitted('secret'));
  });

  it.each([
    [line({ type: 'open', stream: 1, end: true, payload: 'ab' }), '0.003 #1 > open 1 2 bytes end'],
    [line({ type: 'data', stream: 1, payload: 'é' }), '0.003 #1 > data 1 2 bytes'],
    [line({ type: 'data', stream: 1, payload: 1 }), '0.003 #1 > data 1 1 byte'],
    [line({ type: 'open', stream: 1, payload: ['add', { id: 'é' }] }), '0.003 #1 > open 1 "add" 19 bytes'],
    [line({ type: 'open', stream: 1, payload: { op: 'a\u001b' } }), '0.003 #1 > open 1 "a\\u001b" 16 bytes'],
    [line({ type: 'data', stream: 1, payload: ['add'] }), '0.003 #1 > data 1 7 bytes'],
    [{ ...line({ type: 'open', stream: 1, payload: new Omitted(2) }), n: 'add', b: 70 }, '0.003 #1 > open 1 "add" 70 bytes'],
    [{ ...line({ type: 'ping', nonce: 'a' }), b: 30 }, '0.003 #1 > ping nonce="a"'],
    [line({ type: 'open', stream: 1, headers: new Omitted(18) }), '0.003 #1 > open 1 headers=18 bytes'],
    [line({ type: 'reset', stream: 1, code: 2 }), '0.003 #1 > reset 1 code=2'],
    [line({ type: 'ping', nonce: 'a' }), '0.003 #1 > ping nonce="a"'],
    [line(null), '0.003 #1 > a message that does not decode'],
    [line({ stream: 1, payload: 'ab' }), '0.003 #1 > a frame without a type 1 2 bytes'],
    [line({ type: { a: 1 }, stream: [2] }), '0.003 #1 > a frame without a type [2]'],
    [line({ type: 'open 1 end', stream: 3 }), '0.003 #1 > "open 1 end" 3'],
    [line({ type: '\u001b[2J\u009b2J\n0.004' }), '0.003 #1 > "\\u001b[2J\\u009b2J\\n0.004"'],
    [line({ type: 'reset', stream: 1, reason: '\u001b]0;x\u0007\u202e\r' }), '0.003 #1 > reset 1 reason="\\u001b]0;x\\u0007\\u202e\\r"'],
    [line({ type: 'open', '\u001b[2J': true, '\u009b': 1 }), '0.003 #1 > open "\\u001b[2J" "\\u009b"=1'],
    [line({ type: 'open', stream: '\u009b', headers: { a: '\u009b' } }), '0.003 #1 > open "\\u009b" headers={"a":"\\u009b"}'],
    [line({ type: 'ping', nonce: 'n'.repeat(101) }), `0.003 #1 > ping nonce="${'n'.repeat(100)}…"`],
  ])('A line of a recording describes itself: %#', (given, text) => {
    expect(describeLine(given)).toBe(text);
  });

  it('A line of many fields describes itself in a row of 1 000 characters', () => {
    const f = Object.fromEntries(Array.from({ length: 5_000 }, (_, nth) => [`field${nth}`, nth]));
    expect(describeLine(line({ type: 'open', ...f })).length).toBeLessThanOrEqual(1_001);
  });

  it.each([
    'null',
    '{}',
    '{"v":2,"t":3,"c":1,"d":">","f":null}',
    '{"v":1,"t":3,"c":1,"d":"tx","f":null}',
    '{"v":1,"t":3,"c":1,"d":">"}',
    '{"v":1,"t":3,"c":1,"d":">","f":[1]}',
  ])('JSON of another form is no line of a recording: %s', (text) => {
    expect(() => readLine(text)).toThrow(new TypeError(`expected a line of a recording with v, t, c, d and f, got ${text}`));
  });

  it('A text that is no JSON is no line of a recording', () => {
    expect(() => readLine('v=1')).toThrow(SyntaxError);
  });

  it.each([
    ['no JSON', 'v=1', SyntaxError],
    ['a cut line', '{"v":1,"t":3,"c', SyntaxError],
    ['JSON of another form', '{"v":2}', TypeError],
  ])('A wrong line of a recording is named by its number: %s', (_, wrong, type) => {
    const text = `${writeLine(line(null))}\n\n${wrong}\n`;
    expect(() => readLines(text)).toThrow(type);
    expect(() => readLines(text)).toThrow(/^line 3: /);
  });
});

/** A pair whose acceptor echoes. */
function echo(options: Parameters<typeof createPair>[0] = {}) {
  const pair = createPair(options);
  pair.acceptor.onStream((payload, stream) => stream.reply(payload));
  return pair;
}

const frames = (text: string) => readLines(text).map(({ f }) => f);

/** Records one request at the dialer. */
async function recorded(options: RecordOptions, payload: unknown = 'secret'): Promise<string> {
  const { dialer } = echo();
  const recording = record(dialer, options);
  await dialer.request(payload, { headers: { authorization: 'Bearer s3cret' } });
  return recording.text;
}

describe('record', () => {
  let restore: (() => void) | null = null;

  afterEach(() => {
    restore?.();
    restore = null;
  });

  it('A recording has each frame with its time, direction and connection', async () => {
    const time = virtualTime();
    restore = () => {
      time.restore();
    };
    const { dialer } = echo({ latencyMs: 20 });
    const recording = record(dialer, { payloads: true });
    await time.advance(5);
    const answer = dialer.request('secret', { headers: { a: 1 } });
    await time.advance(100);
    await answer;
    expect(readLines(recording.text)).toEqual([
      { v: 1, t: 5, c: 1, d: '>', f: { type: 'open', stream: 1, end: true, headers: { a: 1 }, payload: 'secret' } },
      { v: 1, t: 45, c: 1, d: '<', f: { type: 'data', stream: 1, end: true, payload: 'secret' } },
    ]);
  });

  it('A recording of an acceptor has the same directions', async () => {
    const { dialer, acceptor } = echo();
    const recording = record(acceptor);
    await dialer.request();
    expect(readLines(recording.text).map(({ d, f }) => [d, f?.['type']])).toEqual([
      ['>', 'open'],
      ['<', 'data'],
    ]);
  });

  it('A recording has no payload and no header by default', async () => {
    const text = await recorded({});
    expect(text).not.toContain('s3cret');
    expect(frames(text)).toEqual([
      { type: 'open', stream: 1, end: true, headers: expect.any(Omitted), payload: new Omitted('secret'.length) },
      { type: 'data', stream: 1, end: true, payload: new Omitted('secret'.length) },
    ]);
  });

  it('A redaction changes what is kept, and drops frames', async () => {
    const redact: RecordOptions['redact'] = (frame) => (frame.type === 'data' ? null : { ...frame, headers: { authorization: '…' } });
    const text = await recorded({ payloads: true, redact });
    expect(frames(text)).toEqual([{ type: 'open', stream: 1, end: true, headers: { authorization: '…' }, payload: 'secret' }]);
  });

  it('A recording with a redaction keeps no slice of a payload', async () => {
    const secret = 's3cret'.repeat(30_000);
    const text = await recorded({ payloads: true, redact: (frame) => frame }, secret);
    expect(text).not.toContain('s3crets3cret');
    expect(frames(text)).toContainEqual(expect.objectContaining({ more: true, fragment: expect.any(Omitted) }));
    expect(await recorded({ payloads: true }, secret)).toContain('s3crets3cret');
  });

  it.each<[title: string, redact: unknown]>([
    [
      'throws',
      () => {
        throw new Error('no such header');
      },
    ],
    ['returns a promise', async () => Promise.resolve(null)],
    ['returns nothing', () => undefined],
  ])('A recording ends when its redaction %s, and keeps nothing of the frame', async (_, redact) => {
    const { dialer } = echo();
    const logged = jest.spyOn(logger, 'error').mockReturnValue();
    restore = () => {
      logged.mockRestore();
    };
    const recording = record(dialer, { redact: redact as RecordOptions['redact'] });
    const lines = firstValueFrom(recording.lines$.pipe(toArray()));
    expect(await dialer.request('x')).toBe('x');
    expect([await lines, recording.text]).toEqual([[], '']);
    expect(logged).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['maxLines', { maxLines: 3 }, 3, 7],
    ['maxBytes', { maxBytes: 300 }, 3, 7],
    ['maxLines 0', { maxLines: 0 }, 0, 0],
  ])('A recording keeps the last lines within %s, and counts the others', async (_, options, kept, dropped) => {
    const { dialer } = echo();
    const recording = record(dialer, { payloads: true, ...options });
    for (let n = 0; n < 5; n++) await dialer.request(n);
    expect([frames(recording.text).length, recording.dropped]).toEqual([kept, dropped]);
    expect(recording.text.length).toBeLessThanOrEqual(300);
    if (kept > 0) expect(frames(recording.text).at(-1)).toMatchObject({ payload: 4 });
  });

  it('A recording emits each line when its frame passes', async () => {
    const { dialer } = echo();
    const types = firstValueFrom(
      record(dialer, { maxLines: 0 }).lines$.pipe(
        map(({ f }) => f?.['type']),
        take(2),
        toArray(),
      ),
    );
    await dialer.request();
    expect(await types).toEqual(['open', 'data']);
  });

  it('A stopped recording keeps its text, adds nothing and completes', async () => {
    const { dialer } = echo();
    const recording = record(dialer);
    const lines = firstValueFrom(recording.lines$.pipe(toArray()));
    await dialer.request();
    recording.stop();
    recording.stop();
    const { text } = recording;
    await dialer.request();
    expect([recording.text, await lines]).toEqual([text, readLines(text)]);
    expect(readLines(`\ufeff${text.replaceAll('\n', '\r\n')}`)).toEqual(readLines(text));
  });

  it('A recording of server counts the connections of all', async () => {
    const peers$ = new Subject<Peer>();
    const recording = record({ peers$ });
    const pairs = [echo(), echo({ codec: new MsgpackCodec() })];
    for (const { dialer } of pairs) peers$.next(dialer);
    for (const { dialer } of pairs) await dialer.request('x');
    expect(readLines(recording.text).map(({ c, d }) => `${c}${d}`)).toEqual(['1>', '1<', '2>', '2<']);
  });

  it('A recording completes with its peers', async () => {
    const { dialer } = echo();
    const lines = firstValueFrom(record({ peers$: of(dialer) }).lines$.pipe(toArray()));
    await dialer.close();
    expect((await lines).map(({ f }) => f?.['type'])).toEqual(['goaway']);
  });

  it.each<[title: string, peers: unknown, options: unknown, message: string]>([
    ['another source', {}, {}, 'record: expected a Peer, got an object'],
    ['bad options', { peers$: of() }, 1, 'options: expected an object, got 1'],
    ['a bad limit', { peers$: of() }, { maxLines: -1 }, 'maxLines: expected a number of at least 0, got -1'],
    ['a bad redaction', { peers$: of() }, { redact: 1 }, 'redact: expected a function, got 1'],
  ])('A recording refuses %s', (_, peers, options, message) => {
    expect(() => record(peers as Peer, options as RecordOptions)).toThrow(new TypeError(message));
  });
});

describe('inspect', () => {
  collectLogs();

  /** An acceptor that takes notifications. */
  const TAKES = { acceptor: { onStream: () => undefined } };
  const SUM = { op: 'sum', of: [1, 2] };

  function opens(lines: readonly InspectorLine[]): readonly InspectorLine[] {
    return lines.filter(({ f }) => f?.['type'] === 'open');
  }

  function timeless(lines: readonly InspectorLine[]): unknown[] {
    return lines.map((line) => ({ ...line, t: 0 }));
  }

  describe('the lines of an inspected peer', () => {
    it('Lines have the name, the size and no payload', async () => {
      const { dialer, acceptor } = createPairFromTesting({ acceptor: { onStream: (_, stream) => stream.reply(3) } });
      const atDialer = inspect(dialer);
      const atAcceptor = inspect(acceptor);
      await dialer.request(SUM, { headers: { token: 'secret' } });
      const shown = timeless(atDialer.lines);
      expect(shown).toEqual([
        { v: 1, t: 0, c: 1, d: '>', b: 100, n: 'sum', f: { type: 'open', stream: 1, end: true, payload: new Omitted(100) } },
        { v: 1, t: 0, c: 1, d: '<', b: 49, f: { type: 'data', stream: 1, end: true, payload: new Omitted(49) } },
      ]);
      expect(timeless(atAcceptor.lines)).toEqual(shown);
      atDialer.close();
      atAcceptor.close();
    });

    it('The label of a peer names its streams, and the first key names a payload that was cut', async () => {
      const { dialer } = createPairFromTesting({
        maxFrameBytes: 1_024,
        dialer: { label: (payload) => (payload === 1 ? 'one' : payload === null ? 'none' : '') },
        acceptor: { onStream: (_, stream) => stream.reply(null) },
      });
      const inspection = inspect(dialer);
      await dialer.request(1);
      await dialer.request();
      await dialer.request({ op: 'upload', text: 'x'.repeat(2_000) });
      expect(inspection.lines.flatMap(({ n }) => n ?? [])).toEqual(['one', 'none', 'upload']);
      inspection.close();
    });

    it('The history keeps the last lines only', async () => {
      const { dialer } = createPairFromTesting({ acceptor: { onStream: (_, stream) => stream.reply(null) } });
      const inspection = inspect(dialer, { historyLines: 3 });
      for (let n = 0; n < 20; n++) await dialer.request(n);
      expect(inspection.lines.map(({ f }) => f?.['stream'])).toEqual([37, 39, 39]);
      inspection.close();
    });

    it('The history forgets old lines', async () => {
      const time = virtualTime();
      try {
        const { dialer } = createPairFromTesting(TAKES);
        const inspection = inspect(dialer, { historyMs: 1_000 });
        dialer.notify('first');
        await time.advance(2_000);
        dialer.notify('second');
        await time.advance(10);
        expect(opens(inspection.lines).map(({ t, f }) => [t, f?.['stream']])).toEqual([[2_000, 3]]);
        await time.advance(2_000);
        expect(inspection.lines).toEqual([]);
        inspection.close();
      } finally {
        time.restore();
      }
    });

    it('A redacted frame is shown as its redaction returns it, and stays out where that is null or fails', async () => {
      const { dialer } = createPairFromTesting({ acceptor: { onStream: (_, stream) => stream.reply(null) } });
      const inspection = inspect(dialer, {
        historyMs: 0,
        redact: (frame) => {
          if (frame.payload === 'broken') throw new Error('no');
          return frame.type === 'data' ? null : { ...frame, payload: 'hidden' };
        },
      });
      const batch = firstValueFrom(inspection.feed(of(true)).pipe(filter(({ lines }) => lines.length > 0)));
      await dialer.request('broken');
      await dialer.request('secret');
      expect((await batch).lines.map(({ n, f }) => [n, f?.['payload']])).toEqual([[undefined, 'hidden']]);
      inspection.close();
    });

    it.each([
      ['a peer', () => inspect({} as never)],
      ['a number of at least 0', () => inspect(createPairFromTesting().dialer, { historyMs: -1 })],
      ['a function', () => inspect(createPairFromTesting().dialer, { redact: 1 as never })],
    ])('A bad argument is refused: expected %s', (_, call) => {
      expect(call).toThrow(TypeError);
    });
  });

  describe('the feed of an inspection', () => {
    it('A feed begins with the history, and goes on in batches of 50 ms', async () => {
      const time = virtualTime();
      try {
        const { dialer } = createPairFromTesting(TAKES);
        const inspection = inspect(dialer);
        dialer.notify('before');
        await time.advance(100);
        const seen: (readonly [at: number, streams: unknown[]])[] = [];
        inspection.feed(NEVER).subscribe(({ at, lines }) => seen.push([at, opens(lines).map(({ f }) => f?.['stream'])]));
        await time.advance(10);
        dialer.notify('first');
        dialer.notify('second');
        await time.advance(100);
        expect(seen).toEqual([
          [100, [1]],
          [150, [3, 5]],
        ]);
        await time.advance(1_000);
        expect(seen.slice(2).map(([at]) => at)).toEqual([650, 1_150]);
        inspection.close();
      } finally {
        time.restore();
      }
    });

    it('A feed has payloads from the moment on in which its viewer asks for them', async () => {
      const time = virtualTime();
      try {
        const { dialer } = createPairFromTesting(TAKES);
        const inspection = inspect(dialer, { historyMs: 0 });
        const payloads$ = new Subject<boolean>();
        const payloads: unknown[] = [];
        inspection.feed(payloads$).subscribe(({ lines }) => payloads.push(...opens(lines).map(({ f }) => f?.['payload'])));
        for (const asked of [false, true, false]) {
          payloads$.next(asked);
          dialer.notify('hi');
          await time.advance(100);
        }
        expect(payloads).toEqual([expect.any(Omitted), 'hi', expect.any(Omitted)]);
        inspection.close();
      } finally {
        time.restore();
      }
    });

    it('Without a history, a peer is watched only while a viewer is there', () => {
      const { dialer } = createPairFromTesting();
      const inspection = inspect(dialer, { historyMs: 0 });
      dialer.notify('unseen');
      const subscription = inspection.feed(NEVER).subscribe();
      subscription.unsubscribe();
      expect(inspection.lines).toEqual([]);
      inspection.close();
    });

    it('A closed inspection completes its feeds', () => {
      const inspection = inspect(createPairFromTesting().dialer);
      let completed = false;
      inspection.feed(NEVER).subscribe({ complete: () => (completed = true) });
      inspection.close();
      inspection.close();
      expect(completed).toBe(true);
    });

    it('A closed inspection passes on the lines since the last batch', async () => {
      const time = virtualTime();
      try {
        const { dialer } = createPairFromTesting(TAKES);
        const inspection = inspect(dialer);
        const seen: unknown[] = [];
        inspection.feed(NEVER).subscribe(({ lines }) => seen.push(opens(lines).map(({ f }) => f?.['stream'])));
        dialer.notify('first');
        await time.advance(10);
        dialer.notify('last');
        await time.advance(10);
        inspection.close();
        expect(seen).toEqual([[1], [3]]);
      } finally {
        time.restore();
      }
    });

    it('Each connection of the peers of a server has a number of its own, and other peers wait for a place', async () => {
      const server = createServer({ onStream: (_, stream) => stream.reply(null) });
      const inspection = inspect(server, { maxPeers: 2 });
      const dial = (): ReturnType<typeof connect> => connect('ws://test', { socket: server.socket, keepalive: false });
      const [first, second, third] = [dial(), dial(), dial()];
      for (const peer of [first, second, third]) await peer.request('hi');
      await first.close();
      const fourth = dial();
      await fourth.request('hi');
      expect(opens(inspection.lines).map(({ c, f }) => [c, f?.['type']])).toEqual([
        [1, 'open'],
        [2, 'open'],
        [3, 'open'],
      ]);
      inspection.close();
      for (const peer of [second, third, fourth]) await peer.close();
    });

    it('A batch counts the connected peers that have no place', async () => {
      const server = createServer({ onStream: (_, stream) => stream.reply(null) });
      const inspection = inspect(server, { maxPeers: 2 });
      const peers = Array.from({ length: 5 }, () => connect('ws://test', { socket: server.socket, keepalive: false }));
      for (const peer of peers) await peer.request('hi');
      const counts = async (): Promise<unknown[]> => {
        const { peers: watched, unwatched } = await firstValueFrom(inspection.feed(NEVER));
        return [watched.length, unwatched];
      };
      expect(await counts()).toEqual([2, 3]);
      await peers[4]?.close();
      expect(await counts()).toEqual([2, 2]);
      inspection.close();
      for (const peer of peers) await peer.close();
    });
  });
});
