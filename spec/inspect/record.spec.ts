import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, map, of, Subject, take, toArray } from 'rxjs';
import { logger } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { Omitted, readLines, record } from '../../src/inspect.js';
import type { RecordOptions } from '../../src/inspect.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { virtualTime } from '../../src/testing.js';
import { createPair } from '../support/peer/tracked.js';

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
