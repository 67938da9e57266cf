import { describe, expect, it } from '@jest/globals';
import { respond } from '../../../src/index.js';
import { MsgpackCodec } from '../../../src/msgpack.js';
import { createPair } from '../../../src/testing.js';
import { progressOf } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { collectLogs } from '../../support/peer/logs.js';

const time = virtualPeerTime();

const KIB = 1024;
const bytesOf = (size: number): Uint8Array<ArrayBuffer> => Uint8Array.from({ length: size }, (_, i) => i % 251);

/** The slices of an input that arrive under msgpack. */
async function arriving(input: Blob): Promise<readonly Uint8Array[]> {
  const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
  const slices: Uint8Array[] = [];
  acceptor.onStream(async (_payload, stream) => {
    for await (const slice of stream) slices.push(slice as Uint8Array);
  });
  const sent = dialer.open('up').sendAll(input);
  await time.advance(1_000);
  await time.advance(1_000);
  await sent;
  await time.advance(1_000);
  return slices;
}

describe('Blob as an input', () => {
  it.each<[string, number, readonly number[]]>([
    ['no bytes', 0, []],
    ['one byte', 1, [1]],
    ['64 KiB', 64 * KIB, [64 * KIB]],
    ['two slices and 5 bytes', 128 * KIB + 5, [64 * KIB, 64 * KIB, 5]],
  ])('A Blob of %s is sent in slices of 64 KiB', async (_what, size, lengths) => {
    const bytes = bytesOf(size);
    const slices = await arriving(new Blob([bytes]));
    expect(slices.map(({ length }) => length)).toEqual(lengths);
    expect(Buffer.concat(slices).equals(bytes)).toBe(true);
  });
});

describe('Blob', () => {
  collectLogs();

  it('A Blob can be sent again', async () => {
    const blob = new Blob(['abc']);
    const twice = [await arriving(blob), await arriving(blob)];
    expect(twice.map((slices) => Buffer.concat(slices).toString())).toEqual(['abc', 'abc']);
  });

  it('A Blob may be an answer of `respond`', async () => {
    const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
    acceptor.streams$.pipe(respond(() => new Blob(['abc']))).subscribe();
    const seen: string[] = [];
    dialer.open$<Uint8Array>('p').subscribe((slice) => seen.push(Buffer.from(slice).toString()));
    for (let turn = 0; turn < 3; turn++) await time.advance(10);
    expect(seen).toEqual(['abc']);
  });

  it('A Blob fails its call when the codec carries no bytes', async () => {
    const { dialer } = createPair();
    const outcome = progressOf(dialer.open('up').sendAll(new Blob(['abc'])));
    for (let turn = 0; turn < 3; turn++) await time.advance(10);
    expect(outcome.error).toBeInstanceOf(TypeError);
  });

  it('A Blob that cannot be read fails its call', async () => {
    const { dialer } = createPair({ codec: new MsgpackCodec() });
    const blob = new Blob(['abc']);
    Object.defineProperty(blob, 'slice', { value: () => ({ arrayBuffer: () => Promise.reject(new Error('the file has changed')) }) });
    const outcome = progressOf(dialer.open('up').sendAll(blob));
    await time.advance(10);
    expect(outcome.error).toEqual(new Error('the file has changed'));
  });

  it('A Blob is not read any more once its stream has ended', async () => {
    const { dialer } = createPair({ codec: new MsgpackCodec() });
    const stream = dialer.open('up');
    const outcome = progressOf(stream.sendAll(new Blob([bytesOf(300 * KIB)])));
    stream.reset();
    await time.advance(10);
    expect(outcome.error).toMatchObject({ code: 'CANCELLED' });
  });
});
