import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, map, mergeMap, of, share, Subject, toArray } from 'rxjs';
import { ABSENT, encodeOnce, respond, SharedPayload } from '../../../src/index.js';
import { CODECS } from '../../support/codec/shipped.js';
import { shippedCodec } from '../../support/codec/breakable.js';
import { settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { createPair } from '../../support/peer/tracked.js';
import type { Codec } from '../../../src/wire/codec.js';
import { checkedCodec } from '../../../src/wire/codec.js';

const time = virtualPeerTime();

/** A shipped codec, and the payloads that it was given to encode. */
function counting(name: 'json' | 'msgpack'): { readonly codec: Codec; readonly encoded: unknown[] } {
  const codec = shippedCodec(name);
  const encoded: unknown[] = [];
  const encodePayload = codec.encodePayload.bind(codec);
  // A peer tries a codec of bytes with two numbers.
  checkedCodec(codec);
  codec.encodePayload = (payload) => {
    encoded.push(payload);
    return encodePayload(payload);
  };
  return { codec, encoded };
}

describe.each(CODECS.map(([name]) => [name as 'json' | 'msgpack']))('A shared payload under %s', (name) => {
  it.each([
    ['a small value', { price: 12.5, name: 'é😀' }],
    ['a value in fragments', 'é'.repeat(100_000)],
    ['null', null],
  ])('%s is encoded once for many streams, and arrives as its value', async (_what, value) => {
    const { codec, encoded } = counting(name);
    const { dialer, acceptor } = createPair({ codec });
    const shared = new SharedPayload(value);
    acceptor.onStream((_, stream) => stream.reply(shared));
    const answers = [1, 2, 3].map(() => settled(dialer.request()));
    await time.advance(1_000);
    expect(await Promise.all(answers)).toEqual([{ value }, { value }, { value }]);
    expect(encoded).toEqual([value]);
  });

  it('Open, notify, send and inputs take a shared payload, and observers see its value', async () => {
    const { codec, encoded } = counting(name);
    const { dialer, acceptor } = createPair({ codec });
    const got: unknown[] = [];
    const seen: unknown[] = [];
    acceptor.onStream((payload, stream) => {
      got.push(payload);
      stream.subscribe((value) => got.push(value));
    });
    dialer.onFrame((direction, { payload }) => {
      if (direction === 'tx' && payload !== undefined && payload !== ABSENT) seen.push(payload);
    });
    const shared = new SharedPayload({ n: 1 });
    dialer.notify(shared);
    const stream = dialer.open(shared);
    void stream.send(shared);
    void stream.end();
    dialer.open$(shared, { input: of(shared) }).subscribe();
    await time.advance();
    expect(stream.payload).toEqual({ n: 1 });
    expect([got, seen]).toEqual([Array(5).fill({ n: 1 }), Array(5).fill({ n: 1 })]);
    expect(encoded).toEqual([{ n: 1 }]);
  });
});

describe('A shared payload', () => {
  it('A shared payload is sent as it was when it was encoded', async () => {
    const { dialer, acceptor } = createPair();
    const got: unknown[] = [];
    acceptor.onStream((payload) => void got.push(payload));
    const value = { n: 1 };
    const shared = new SharedPayload(value);
    dialer.notify(shared);
    value.n = 2;
    dialer.notify(shared);
    await time.advance();
    expect(got).toEqual([{ n: 1 }, { n: 1 }]);
  });

  it.each(['json', 'msgpack'] as const)('A payload, headers and trailers may hold a shared payload under %s', async (name) => {
    const { dialer, acceptor } = createPair({ codec: shippedCodec(name) });
    const price = new SharedPayload({ cents: 5 });
    acceptor.onStream((payload, stream) => stream.reply([payload, stream.headers, price], { trailers: { price } }));
    const stream = dialer.open({ price }, { headers: { price }, end: true });
    const answer = settled(firstValueFrom(stream));
    await time.advance();
    const held = { price: { cents: 5 } };
    expect([await answer, stream.trailers]).toEqual([{ value: [held, held, { cents: 5 }] }, held]);
  });

  it('Each codec encodes a shared payload for itself', () => {
    const at = new Date(0);
    const shared = new SharedPayload({ at });
    const [json, msgpack] = [shippedCodec('json'), shippedCodec('msgpack')];
    expect(json.decodePayload(shared.encodedBy(json))).toEqual({ at: at.toISOString() });
    expect(msgpack.decodePayload(shared.encodedBy(msgpack))).toEqual({ at });
  });

  it('A shared payload that the codec cannot represent fails each call', () => {
    const { dialer } = createPair();
    const shared = new SharedPayload(new Map());
    const notify = (): void => {
      dialer.notify(shared);
    };
    expect(notify).toThrow("codec 'json': expected a value it can carry at payload, got a Map");
    expect(notify).toThrow(TypeError);
  });

  it.each([[undefined], [ABSENT]])('%p is no value to share', (value) => {
    expect(() => new SharedPayload(value)).toThrow(TypeError);
  });
});

describe('`encodeOnce`', () => {
  it('Streams that answer with one hot source encode each value once', async () => {
    const { codec, encoded } = counting('json');
    const { dialer, acceptor } = createPair({ codec });
    const source$ = new Subject<number>();
    const shared$ = source$.pipe(encodeOnce(), share());
    acceptor.streams$.pipe(respond(() => shared$)).subscribe();
    const answers = Promise.all([1, 2, 3].map(() => firstValueFrom(dialer.open$<number>().pipe(toArray()))));
    await time.advance();
    for (const value of [10, 20]) source$.next(value);
    source$.complete();
    await time.advance();
    expect(await answers).toEqual([[10, 20], [10, 20], [10, 20]]); // prettier-ignore
    expect(encoded).toEqual([10, 20]);
  });

  it('`encodeOnce` emits values in the place of the source, and its errors', async () => {
    const values = await firstValueFrom(of(1, 2).pipe(encodeOnce(), map(({ value }) => value), toArray())); // prettier-ignore
    expect(values).toEqual([1, 2]);
    const failed = firstValueFrom(of(1).pipe(mergeMap(() => Promise.reject(new Error('of the source'))), encodeOnce())); // prettier-ignore
    await expect(failed).rejects.toThrow('of the source');
  });
});
