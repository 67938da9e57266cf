import { encode } from '@msgpack/msgpack';
import { asyncScheduler } from 'rxjs';
import { Peer } from '../../../src/index.js';
import type { Codec, PeerOptions, Stream, StreamHandler } from '../../../src/index.js';
import { GivenSocket } from '../../../src/peer/dial/given-socket.js';
import { resolveOptions } from '../../../src/peer/base/options.js';
import { PeerCore } from '../../../src/peer/core/peer-core.js';
import type { Session } from '../../../src/session/session.js';
import { W3cTransport } from '../../../src/transport/w3c.js';
import type { Message } from '../../../src/wire/codec.js';
import { toMapping } from '../../../src/wire/mapping.js';
import { subprotocol } from '../../../src/wire/subprotocol.js';
import { FakeSocket } from '../socket/fake.js';
import type { Envelope } from '../peer/frames.js';

/** Which side of the connection the peer under attack is. */
export type Role = 'acceptor' | 'dialer';

/** Stands in every payload, header and fragment that nobody may find in a log. */
export const SECRET = 'canary';

export const INNOCENT = 'innocent';
export const GOOD = 'good';

/** The highest id of which both sides have one. */
export const TOP = Number.MAX_SAFE_INTEGER - 2;

/** How a peer under attack differs from one with the defaults and no keepalive. */
export interface HostileOptions extends Omit<PeerOptions, 'codec'> {
  /** Whether streams of the remote are read. Default `true`. */
  readonly reads?: boolean | undefined;
}

/** What became of a stream that the peer reads: its payload, the values, and each time it was told of an end. */
export interface Reading {
  readonly stream: Stream;
  readonly payload: unknown;
  readonly values: unknown[];
  /** `end`, or the code of the error. */
  readonly ends: string[];
  /** Whether the peer reads it. */
  readonly isRead: boolean;
}

class ScriptedSocket extends FakeSocket {
  terminations = 0;

  turn(task: () => void): void {
    asyncScheduler.schedule(task);
  }

  terminate(): void {
    this.terminations++;
  }
}

/** Sends the close codes as they are, which a browser would not let it. */
class PlainTransport extends W3cTransport {
  protected override closeCode(code: number): number {
    return code;
  }
}

/**
 * One real peer, and a remote that is the test: it sends any message at all, and reads what the peer answers.
 *
 * Ids are those of a remote that has dialed, and under the other role each is swapped with its twin: 1 is the remote's
 * first stream and 2 the peer's, whoever dialed. Both are open from the start, with {@link INNOCENT} as their payload: the
 * peer sends back what it gets on the first. An open with {@link GOOD} is answered with it; all others are kept in
 * {@link calls}, read, and held open until their stream ends, unless `onStream` is given.
 */
export class HostilePeer {
  readonly socket = new ScriptedSocket();
  readonly peer: Peer;
  readonly session: Session;
  /** Streams of the remote that have reached the handler, but for the innocent and the good. */
  readonly calls: Reading[] = [];
  /** Streams that {@link open} has opened. */
  readonly opened: Reading[] = [];
  /** The two innocent streams: the remote's, and the peer's. */
  readonly innocents: Reading[] = [];
  /** Highest id that the remote has used for an open. */
  highest = 1;
  readonly #core: PeerCore;
  /** Whether the peer asks for life; otherwise its pings only measure how far the remote has read. */
  readonly #keepsAlive: boolean;
  #told = 0;

  constructor(
    readonly codec: Codec,
    readonly role: Role,
    { onStream, reads = true, ...options }: HostileOptions = {},
  ) {
    this.socket.protocol = subprotocol(codec);
    this.#keepsAlive = typeof options.keepalive === 'object';
    this.#core = new PeerCore(resolveOptions({ keepalive: false, ...options, codec }, role === 'dialer'));
    this.peer = new Peer(this.#core, new GivenSocket(this.#core, new PlainTransport(this.socket)));
    this.peer.onStream((payload, stream) => this.#serve(payload, stream, reads, onStream));
    void this.peer.serve();
    const [session] = this.#core.sessions;
    if (session === undefined) throw new Error('expected a session, got a peer without one');
    this.session = session;
    this.send({ type: 'open', stream: 1, payload: INNOCENT });
    this.innocents.push(read(this.peer.open(INNOCENT)));
    this.news();
  }

  /** The peer opens a stream of its own: 4, then 6, … */
  open(payload: unknown = 'mine'): Reading {
    const reading = read(this.peer.open(payload));
    this.opened.push(reading);
    return reading;
  }

  /** Sends a message as it is, or an envelope, which may break every rule, as the codec's library writes it. */
  send(...sent: readonly (Message | Envelope)[]): void {
    for (const each of sent) {
      const isMessage = typeof each === 'string' || each instanceof ArrayBuffer;
      if (!isMessage && each['type'] === 'open') this.highest = Math.max(this.highest, Number(each['stream']) || 0);
      this.socket.emit('message', { data: isMessage ? each : this.written(each) });
    }
  }

  /** An envelope as a message. */
  written(envelope: Envelope): Message {
    const mirrored = this.#mirrored(envelope);
    if (!this.codec.binary) return JSON.stringify(mirrored);
    const { fragment } = mirrored;
    const writable = fragment instanceof ArrayBuffer ? { ...mirrored, fragment: new Uint8Array(fragment) } : mirrored;
    return new Uint8Array(encode(writable, { ignoreUndefined: true })).buffer;
  }

  /** What the peer has sent since the last look, in order, without pings that only measure. */
  news(): Envelope[] {
    const sent = this.#sentFrom(this.#told);
    this.#told = this.socket.sent.length;
    return sent.filter(({ type }) => type !== 'ping' || this.#keepsAlive);
  }

  /** Answers the last ping of the peer, and so has read everything before it. */
  answerPing(): void {
    const nonce = this.#sentFrom(0)
      .filter(({ type }) => type === 'ping')
      .at(-1)?.['nonce'];
    if (nonce !== undefined) this.send({ type: 'pong', nonce });
  }

  /** An id as the test writes it for the id on the wire, and the reverse. */
  twin(id: number): number {
    if (this.role === 'acceptor' || id === 0) return id;
    return id % 2 === 1 ? id + 1 : id - 1;
  }

  /** The socket ends, as the peer has asked for or of itself. */
  endSocket(code = this.socket.closes.at(-1)?.[0] ?? 1006): void {
    this.socket.emit('close', { code, reason: '', wasClean: code !== 1006 }, 'CLOSED');
  }

  /** What the peer keeps still. The listener for errors stays for good: a socket that failed later would end the process. */
  get kept(): Readonly<Record<string, number>> {
    const { streams, receiveBudget, scheduler } = this.session;
    const kept = {
      sessions: this.#core.sessions.size,
      streams: streams.size,
      places: streams.occupied,
      heldBytes: receiveBudget.held.used,
      attachedBytes: receiveBudget.attached.used,
      queuedBytes: scheduler.backlog.bytes,
      queues: scheduler.backlog.queues.size,
      ...this.socket.listening,
      error: (this.socket.listening.error ?? 0) - 1,
    };
    return Object.fromEntries(Object.entries(kept).filter(([, count]) => count !== 0));
  }

  #sentFrom(nth: number): Envelope[] {
    return this.socket.sent.slice(nth).map((message) => this.#mirrored(toMapping(this.codec.decode(message))));
  }

  #serve(payload: unknown, stream: Stream, reads: boolean, handler: StreamHandler | undefined): unknown {
    if (payload === GOOD) return stream.reply(GOOD);
    if (payload !== INNOCENT) {
      this.calls.push(reads ? read(stream) : { stream, payload, values: [], ends: [], isRead: false });
      return handler === undefined ? stream.closed : handler(payload, stream);
    }
    this.innocents.push(read(stream, (value) => void stream.send(value)));
    return stream.closed;
  }

  #mirrored(envelope: Envelope): Envelope {
    const ids = ['stream', 'last_stream'].filter((key) => Object.hasOwn(envelope, key)).map((key) => [key, envelope[key]] as const);
    return { ...envelope, ...Object.fromEntries(ids.map(([key, id]) => [key, isMirrored(id) ? this.twin(id) : id])) };
  }
}

function isMirrored(id: unknown): id is number {
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 && id <= TOP + 1;
}

function read(stream: Stream, onValue: (value: unknown) => void = () => undefined): Reading {
  const reading: Reading = { stream, payload: stream.payload, values: [], ends: [], isRead: true };
  stream.subscribe({
    next: (value) => {
      reading.values.push(value);
      onValue(value);
    },
    error: (error: unknown) => {
      reading.ends.push(codeOf(error));
    },
    complete: () => reading.ends.push('end'),
  });
  return reading;
}

/** What was thrown by user code may refuse to be looked at. */
function codeOf(error: unknown): string {
  try {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  } catch {
    return 'unreadable';
  }
}
