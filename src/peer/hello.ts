import type { Session } from '../session/session.js';
import { DeadlineExceededError } from '../wire/errors.js';
import { ABSENT } from '../wire/frame.js';
import type { MetadataInput } from '../wire/frame.js';
import type { CloseReason } from '../wire/close-reason.js';
import { readOne } from './calls.js';
import { guard } from './guard.js';
import { copyMetadata, freezeMetadata } from './metadata.js';
import type { PeerCore } from './peer-core.js';
import { StreamCore } from './stream-core.js';
import type { Stream } from './stream.js';

/** What a dial knows of those before it. */
export interface DialContext {
  /** 1, 2, … since the last stable socket. */
  readonly attempt: number;
  /** Sockets that were open before this one. */
  readonly reconnects: number;
  /** Why the last socket ended, or the last dial failed. */
  readonly last: CloseReason | null;
  /** Aborts when this dial is given up. */
  readonly signal: AbortSignal;
}

/** The first stream of every socket: where tokens and resume cursors live. */
export interface Hello {
  readonly payload?: unknown;
  readonly headers?: MetadataInput | undefined;
  /** Gets the server's reply. */
  readonly onReply?: ((reply: unknown, stream: Stream) => void) | undefined;
}

/** Says hello on a new session, past the open interceptors. `failed` is told when it is refused, fails, or takes too long. */
export function sayHello(
  core: PeerCore,
  session: Session,
  hello: Hello,
  timeoutMs: number,
  done: () => void,
  failed: (error: unknown) => void,
): void {
  const { codec } = core;
  const payload = hello.payload === undefined ? ABSENT : hello.payload;
  const encoded = payload === ABSENT ? null : codec.encodePayload(payload);
  const frame = { type: 'open', payload, headers: freezeMetadata(copyMetadata(hello.headers), codec), end: true };
  core.checkSendable(frame, encoded, session.streams.nextId);
  const live = session.open();
  const stream = (live.sink = new StreamCore(core, { local: true, headers: frame.headers, payload }, live));
  if (timeoutMs > 0 && timeoutMs !== Infinity) stream.onRelease(core.deadlines.add(stream, timeoutMs));
  readOne(
    stream,
    (reply) => {
      if (hello.onReply !== undefined) guard('onReply of the hello', () => hello.onReply?.(reply, stream.stream));
      done();
    },
    (error) => {
      failed(error instanceof DeadlineExceededError ? error : error);
    },
  );
  live.send(frame, encoded);
}
