import { concat, defer, noop, Observable, tap } from 'rxjs';
import { reopenOnReconnect } from '../peer/operators/reopen.js';
import { checkPeer } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import { observableFrom } from '../stream/input.js';
import type { Source } from '../stream/input.js';
import { checkFunction, describeReceived, isBlob, optionError } from '../util/check.js';
import { ProtocolError } from '../wire/errors.js';

/**
 * Bytes that can be read from any place: a `Blob` or `File`, bytes in memory, or a function that reads from an offset on, such as
 * `(start) => createReadStream(path, { start })`.
 */
export type Resumable = Blob | Uint8Array | ((offset: number) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>);

/** Where a server keeps an upload. */
export interface UploadStore {
  /** Returns how many bytes are kept, from the first one on: 0 at first. */
  size(): number | PromiseLike<number>;
  /**
   * Writes bytes at a place. Resolves once a crash cannot lose them. The place makes it safe that a server that drains writes the same bytes
   * once more.
   */
  write(slice: Uint8Array, at: number): unknown;
}

/** Bytes of a payload. One that is being written is lost with its socket. */
const SLICE_BYTES = 64 * 1024;

/**
 * Uploads bytes, and goes on where the server stands after a lost socket, a deploy or a crash. It sends only the bytes again that were on
 * their way.
 *
 * Emits how many bytes the server has kept. An earlier try may have left some. Completes once the server has ended the stream. Errors as
 * `reopenOnReconnect` does, and with a ProtocolError where the server ends before it has all bytes; a function does not say how many it
 * has. Unsubscribing stops the upload; another one may go on later, in another page too. Cold: each subscription opens streams of its own.
 *
 * @param open opens a two-way stream, such as a `channel` of a contract, that {@link receiveUpload} answers. The call needs
 *   `retry: 'safe'`, and a codec that carries bytes.
 * @throws TypeError for a peer or a source that is none, and unless `open` is a function
 *
 * @example
 * ```ts
 * bar.max = file.size;
 * resumableUpload(peer, file, (input) => peer.open$({ op: 'upload', id }, { input, retry: 'safe' })).subscribe({
 *   next: (kept) => (bar.value = kept),
 *   complete: () => console.log('uploaded'),
 * });
 * ```
 */
export function resumableUpload(
  peer: Peer,
  source: Resumable,
  open: (input: () => AsyncIterable<Uint8Array>) => Source<number>,
): Observable<number> {
  checkPeer('resumableUpload', peer, 'status$');
  checkFunction('resumableUpload.open', open);
  const size = sizeOf(source);
  return defer(() => {
    let kept = 0;
    const attempt = (): Observable<number> => {
      let start: (offset: number) => void = noop;
      // Made anew for each stream that `open` opens: one that it repeats may begin at another place.
      const input = (): AsyncIterable<Uint8Array> => slicesFrom(source, size, new Promise((resolve) => (start = resolve)));
      return observableFrom(open(input)).pipe(
        tap((bytes) => {
          if (!Number.isSafeInteger(bytes) || bytes < 0)
            throw new ProtocolError(
              `resumableUpload: expected a number of kept bytes, as receiveUpload sends it, got ${describeReceived(bytes)}`,
            );
          kept = bytes;
          start(bytes);
        }),
      );
    };
    const complete$ = new Observable<never>((subscriber) => {
      if (size !== null && kept !== size)
        subscriber.error(new ProtocolError(`the server has ended the upload after ${kept} of ${size} bytes`));
      else subscriber.complete();
    });
    return concat(reopenOnReconnect(peer, { open: attempt }), complete$);
  });
}

/**
 * Answers the stream of a {@link resumableUpload}: sends how many bytes are kept, then writes each slice and sends the sum. Completes once
 * the client has sent its last slice.
 *
 * Two streams may write one upload for a moment, as an old socket and its successor. Both write the same bytes at the same places.
 *
 * @param slices the stream, as a handler gets it.
 * @throws TypeError for a size that is no number of bytes, and for a slice that is not bytes
 *
 * @example
 * ```ts
 * const store = { size: async () => (await file.stat()).size, write: (slice, at) => file.write(slice, 0, slice.length, at) };
 * peer.streams$.pipe(respond((_payload, slices) => receiveUpload(slices, store))).subscribe();
 * ```
 */
export async function* receiveUpload(slices: AsyncIterable<unknown>, store: UploadStore): AsyncGenerator<number, void> {
  let at = await store.size();
  if (!Number.isSafeInteger(at) || at < 0) throw optionError('receiveUpload.size', 'a number of bytes', at);
  yield at;
  for await (const slice of slices) {
    if (!(slice instanceof Uint8Array)) throw optionError('receiveUpload', 'bytes', slice);
    await store.write(slice, at);
    at += slice.byteLength;
    yield at;
  }
}

/** @throws TypeError for a source that cannot be read from a place */
function sizeOf(source: unknown): number | null {
  if (typeof source === 'function') return null;
  if (source instanceof Uint8Array) return source.byteLength;
  if (isBlob(source)) return source.size;
  throw optionError('resumableUpload', 'a Blob, a Uint8Array, or a function that reads from an offset on', source);
}

/** Waits until the server has said where it stands. */
async function* slicesFrom(source: Resumable, size: number | null, started: Promise<number>): AsyncGenerator<Uint8Array, void> {
  const offset = await started;
  if (typeof source === 'function') {
    yield* source(offset);
    return;
  }
  const end = Number(size);
  if (offset > end)
    throw new RangeError(`resumableUpload: the server keeps ${offset} bytes of an upload of ${end}: it has another one by this name`);
  for (let at = offset; at < end; at += SLICE_BYTES) {
    const next = at + SLICE_BYTES;
    yield source instanceof Uint8Array ? source.subarray(at, next) : new Uint8Array(await source.slice(at, next).arrayBuffer());
  }
}
