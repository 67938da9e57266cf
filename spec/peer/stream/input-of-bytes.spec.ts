import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, toArray } from 'rxjs';
import { respond, withCredit } from '../../../src/index.js';
import type { Input, Peer } from '../../../src/index.js';
import { MsgpackCodec } from '../../../src/msgpack.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
collectLogs();

const MESSAGE = 'expected an input of payloads, such as an Observable or an iterable, got bytes: [bytes] is an input of one payload';

const BYTES: readonly (readonly [what: string, bytes: Uint8Array])[] = [
  ['a Uint8Array', new Uint8Array(3)],
  ['a Buffer', Buffer.alloc(3)],
  ['another view', new Float64Array(3) as unknown as Uint8Array],
  ['a DataView', new DataView(new ArrayBuffer(3)) as unknown as Uint8Array],
  ['an ArrayBuffer', new ArrayBuffer(3) as unknown as Uint8Array],
];

const WAYS: readonly (readonly [way: string, send: (dialer: Peer, acceptor: Peer, bytes: Uint8Array) => Promise<unknown>])[] = [
  ['sendAll', (dialer, _, bytes) => dialer.open().sendAll(bytes)],
  ['open$', (dialer, _, input) => lastValueFrom(dialer.open$('p', { input }))],
  ['a function of open$', (dialer, _, bytes) => lastValueFrom(dialer.open$('p', { input: () => bytes, retry: 'safe' }))],
  [
    'respond',
    (dialer, acceptor, bytes) => {
      acceptor.streams$.pipe(respond(() => bytes)).subscribe();
      return lastValueFrom(dialer.open$('p'));
    },
  ],
  [
    'spend',
    (dialer, acceptor, bytes) => {
      acceptor.streams$.pipe(respond((_, stream) => withCredit(1).spend(stream)(bytes))).subscribe();
      return lastValueFrom(dialer.open$('p', { input: [8] }));
    },
  ],
];

describe.each(BYTES)('Input that is %s', (_what, bytes) => {
  it.each(WAYS)('Bytes as an input are refused by %s, and no value is sent', async (_way, send) => {
    const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
    const sent = [framesOf(dialer), framesOf(acceptor)];
    const outcome = settled(send(dialer, acceptor, bytes));
    await time.advance();
    expect(await outcome).toEqual({ error: expect.objectContaining({ message: MESSAGE }) });
    expect(sent.flat().filter(({ type, payload }) => type === 'data' && payload !== 8 && payload !== undefined)).toEqual([]);
    expect(sent.flat()).toContainEqual(expect.objectContaining({ type: 'reset', code: 16, reason: MESSAGE }));
  });
});

describe('Inputs that are not bytes', () => {
  it.each<[string, Input<unknown>, unknown[]]>([
    ['bytes in an array', [new Uint8Array([1, 2])], [new Uint8Array([1, 2])]],
    ['a promise of bytes', Promise.resolve(new Uint8Array([1, 2])), [new Uint8Array([1, 2])]],
    ['the values of a view', new Uint8Array([1, 2]).values(), [1, 2]],
    ['a text', 'ab', ['a', 'b']],
  ])('An input may be %s', async (_what, input, payloads) => {
    const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
    acceptor.onStream((_, stream) => stream.sendAll(stream));
    const echoed = lastValueFrom(dialer.open$('p', { input }).pipe(toArray()));
    await time.advance();
    expect(await echoed).toEqual(payloads);
  });
});
