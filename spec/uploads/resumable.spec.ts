import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, lastValueFrom, mergeMap, retry, Subject, take, tap, toArray } from 'rxjs';
import type { Observable, ObservableInput } from 'rxjs';
import { dialed } from '../../marbles/support/dialing.js';
import { channel, contract, plain } from '../../src/contract.js';
import { ProtocolError, respond } from '../../src/index.js';
import type { Peer, Stream } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { createPair, virtualTime } from '../../src/testing.js';
import { receiveUpload, resumableUpload } from '../../src/uploads.js';
import type { Resumable, UploadStore } from '../../src/uploads.js';
import { collectLogs } from '../support/peer/logs.js';
import { CuttingLine } from '../support/socket/cutting-line.js';
import { portOf } from '../support/socket/handshake.js';

const MIB = 1024 * 1024;
/** The bytes on their way at a cut: a window of bulk, what a reader has not read, and the buffers of the proxy's sockets. */
const IN_FLIGHT = 6 * MIB;

/** Bytes that differ from place to place. */
function content(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at++) bytes[at] = at * 31 + (at >> 8);
  return bytes;
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Keeps an upload in memory, and counts all that is written. */
class Memory implements UploadStore {
  bytes = new Uint8Array(0);
  written = 0;

  size(): number {
    return this.bytes.length;
  }

  write(slice: Uint8Array, at: number): void {
    const bytes = new Uint8Array(Math.max(this.bytes.length, at + slice.length));
    bytes.set(this.bytes);
    bytes.set(slice, at);
    this.bytes = bytes;
    this.written += slice.length;
  }
}

describe('resumableUpload', () => {
  collectLogs();
  let ending: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ending.reverse()) await end();
    ending = [];
  });

  const begin = async (receive: (slices: Stream<Uint8Array, number>) => ObservableInput<unknown>): Promise<MuxServer> => {
    const server = serve({ port: 0, host: '127.0.0.1', codec: new MsgpackCodec() });
    const answers = respond((_payload, slices: Stream<Uint8Array, number>) => receive(slices) as ObservableInput<number>);
    server.peers$.pipe(mergeMap((peer) => peer.streams$.pipe(answers))).subscribe();
    await server.listening;
    ending.push(() => server.close());
    return server;
  };

  const dial = (url: () => string): Peer => {
    const peer = connect(url, { codec: new MsgpackCodec(), reconnect: { minDelayMs: 1, maxDelayMs: 10, maxAttempts: Infinity } });
    ending.push(() => peer.close());
    return peer;
  };

  const urlOf = (server: MuxServer): string => `ws://127.0.0.1:${portOf(server)}`;

  const upload = (peer: Peer, source: Resumable): Observable<number> =>
    resumableUpload(peer, source, (input) => peer.open$<number, Uint8Array>({ op: 'upload' }, { input, retry: 'safe' }));

  it('A line that is cut again and again costs what was in flight, and the file is whole', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rxmux-upload-'));
    ending.push(() => rmSync(folder, { recursive: true }));
    const [from, to] = [join(folder, 'from'), join(folder, 'to')];
    const bytes = content(24 * MIB);
    writeFileSync(from, bytes);
    writeFileSync(to, '');
    const file: FileHandle = await open(to, 'r+');
    ending.push(() => file.close());
    let written = 0;
    const store: UploadStore = {
      size: async () => (await file.stat()).size,
      write: async (slice, at) => {
        await file.write(slice, 0, slice.length, at);
        written += slice.length;
      },
    };
    const line = await CuttingLine.open(portOf(await begin((slices) => receiveUpload(slices, store))));
    ending.push(() => line.close());
    line.cutAfterBytes = 8 * MIB;
    const kept: number[] = [];
    const source = (start: number) => createReadStream(from, { start });
    await lastValueFrom(
      upload(
        dial(() => line.url),
        source,
      ).pipe(tap((sum) => kept.push(sum))),
    );
    expect(hashOf(readFileSync(to))).toBe(hashOf(bytes));
    expect(kept.at(-1)).toBe(bytes.length);
    expect(line.connections).toBeGreaterThan(2);
    expect(written).toBeLessThan(bytes.length + line.connections * IN_FLIGHT);
  });

  it('A deploy moves an upload to the next server, where it goes on', async () => {
    const store = new Memory();
    const bytes = content(4 * MIB);
    const servers = [await begin((slices) => receiveUpload(slices, store))];
    const next = await begin((slices) => receiveUpload(slices, store));
    const peer = dial(() => urlOf(servers.at(-1) ?? next));
    await lastValueFrom(
      upload(peer, new Blob([bytes])).pipe(
        tap((sum) => {
          if (sum < MIB || servers.length > 1) return;
          servers.push(next);
          void servers[0]?.close({ drainMs: 10_000, reason: 'deploy' });
        }),
      ),
    );
    expect(servers).toHaveLength(2);
    expect(hashOf(store.bytes)).toBe(hashOf(bytes));
    expect(store.written).toBeLessThan(bytes.length + IN_FLIGHT);
  });

  it('An upload that was stopped goes on in another page', async () => {
    const store = new Memory();
    const server = await begin((slices) => receiveUpload(slices, store));
    const bytes = content(2 * MIB);
    const first = await lastValueFrom(
      upload(
        dial(() => urlOf(server)),
        bytes,
      ).pipe(take(4)),
    );
    const sums = await lastValueFrom(
      upload(
        dial(() => urlOf(server)),
        bytes,
      ).pipe(toArray()),
    );
    expect(sums[0]).toBeGreaterThanOrEqual(first);
    expect(sums.at(-1)).toBe(bytes.length);
    expect(hashOf(store.bytes)).toBe(hashOf(bytes));
    expect(
      await lastValueFrom(
        upload(
          dial(() => urlOf(server)),
          bytes,
        ).pipe(toArray()),
      ),
    ).toEqual([bytes.length]);
    expect(store.written).toBeLessThan(bytes.length + IN_FLIGHT);
  });

  it('An empty upload completes', async () => {
    const server = await begin((slices) => receiveUpload(slices, new Memory()));
    expect(
      await lastValueFrom(
        upload(
          dial(() => urlOf(server)),
          new Blob([]),
        ).pipe(toArray()),
      ),
    ).toEqual([0]);
  });

  it('Unsubscribing ends the stream at the server', async () => {
    const ended$ = new Subject<string>();
    const ended = firstValueFrom(ended$);
    const server = await begin(async function* (slices) {
      try {
        yield* receiveUpload(slices, new Memory());
      } finally {
        ended$.next('ended');
      }
    });
    const uploading = upload(
      dial(() => urlOf(server)),
      content(8 * MIB),
    ).subscribe((sum) => {
      if (sum > 0) uploading.unsubscribe();
    });
    expect(await ended).toBe('ended');
  });

  it.each<[string, (slices: Stream<Uint8Array, number>) => ObservableInput<unknown>, unknown]>([
    ['sends no number', () => ['0'], ProtocolError],
    ['sends half a byte', () => [0.5], ProtocolError],
    ['ends before it has all bytes', () => [0], new ProtocolError('the server has ended the upload after 0 of 1000 bytes')],
    ['ends without a word', () => [], new ProtocolError('the server has ended the upload after 0 of 1000 bytes')],
    ['keeps another upload by the name', (slices) => receiveUpload(slices, { size: () => 2_000, write: () => null }), RangeError],
    [
      'does not know how much it keeps',
      (slices) => receiveUpload(slices, { size: () => NaN, write: () => null }),
      /receiveUpload.size: expected a number of bytes, got NaN/,
    ],
    [
      'cannot write',
      (slices) => receiveUpload(slices, { size: () => 0, write: () => Promise.reject(new Error('disk full')) }),
      /disk full/,
    ],
  ])('The upload errors where the server %s', async (_, receive, error) => {
    const server = await begin(receive);
    await expect(
      lastValueFrom(
        upload(
          dial(() => urlOf(server)),
          content(1_000),
        ),
      ),
    ).rejects.toThrow(error);
  });

  it('A stream that `open` repeats by itself goes on where the server stands then', async () => {
    const store = new Memory();
    let isFull = true;
    const write = (slice: Uint8Array, at: number): void => {
      if (at > 100_000 && isFull) {
        isFull = false;
        throw new Error('disk full');
      }
      store.write(slice, at);
    };
    const server = await begin((slices) => receiveUpload(slices, { size: () => store.size(), write }));
    const bytes = content(MIB);
    const peer = dial(() => urlOf(server));
    const open = (input: () => AsyncIterable<Uint8Array>): Observable<number> =>
      peer.open$<number, Uint8Array>({ op: 'upload' }, { input }).pipe(retry(1));
    const sums$ = resumableUpload(peer, bytes, open);
    await lastValueFrom(sums$);
    expect(hashOf(store.bytes)).toBe(hashOf(bytes));
  });

  it('A contract declares it as a channel', async () => {
    const api = contract({ upload: channel({ payload: plain<{ id: string }>(), input: plain<Uint8Array>(), item: plain<number>() }) });
    const store = new Memory();
    const { dialer, calls } = createPair(
      api,
      { upload: (_payload, { input }) => receiveUpload(input, store) },
      { codec: new MsgpackCodec() },
    );
    ending.push(() => dialer.close());
    const bytes = content(300_000);
    await lastValueFrom(resumableUpload(dialer, bytes, (input) => calls.upload({ id: '1' }, input, { retry: 'safe' })));
    expect(hashOf(store.bytes)).toBe(hashOf(bytes));
  });

  it('A lost socket costs the slices on their way, in virtual time', async () => {
    const time = virtualTime();
    const store = new Memory();
    const answers = respond((_payload, slices: Stream<Uint8Array, number>) => receiveUpload(slices, store));
    const codec = new MsgpackCodec();
    const { server, dial: dialMemory } = dialed((peer) => peer.streams$.pipe(answers).subscribe(), { latencyMs: 100, codec });
    const bytes = content(MIB);
    const events: (string | number)[] = [];
    const peer = dialMemory({ codec });
    upload(peer, bytes).subscribe({ next: (sum) => events.push(sum), complete: () => events.push('done') });
    while (events.length < 4) await time.advance(10);
    const [last] = events.slice(-1);
    server.link?.cut();
    await time.advance(60_000);
    const next = events[events.indexOf(last ?? 0) + 1];
    time.restore();
    // The server had more than it could say.
    expect(next).toBeGreaterThanOrEqual(Number(last));
    expect(events.slice(-2)).toEqual([bytes.length, 'done']);
    expect(hashOf(store.bytes)).toBe(hashOf(bytes));
    expect(store.written).toBe(bytes.length);
  });

  it.each<[string, unknown, unknown, unknown]>([
    ['resumableUpload: expected a Peer, got 7', 7, new Blob(), () => []],
    ['resumableUpload: expected a Blob, a Uint8Array, or a function that reads from an offset on, got an array', null, [], () => []],
    ['resumableUpload.open: expected a function, got undefined', null, new Blob(), undefined],
  ])('`resumableUpload` refuses with: %s', (message, peer, source, opens) => {
    const given = (peer ?? createPair().dialer) as Peer;
    expect(() => resumableUpload(given, source as Blob, opens as () => [])).toThrow(new TypeError(message));
  });

  it('`receiveUpload` refuses a slice that is not bytes', async () => {
    const sums = receiveUpload(
      (async function* () {
        yield await Promise.resolve('text');
      })(),
      new Memory(),
    );
    expect(await sums.next()).toEqual({ done: false, value: 0 });
    await expect(sums.next()).rejects.toThrow("receiveUpload: expected bytes, got 'text'");
  });
});
