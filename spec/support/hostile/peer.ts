import { encode } from '@msgpack/msgpack';
import { asyncScheduler } from 'rxjs';
import { Peer } from '../../../src/index.js';
import type { Codec, PeerOptions, Stream, StreamHandler } from '../../../src/index.js';
import { GivenSocket } from '../../../src/peer/dial/given-socket.js';
import { resolveOptions } from '../../../src/peer/options.js';
import { PeerCore } from '../../../src/peer/core.js';
import type { Connection } from '../../../src/connection/connection.js';
import { W3cTransport } from '../../../src/transport/w3c.js';
import type { Message } from '../../../src/wire/codec.js';
import { toMapping } from '../../../src/wire/mapping.js';
import { subprotocol } from '../../../src/wire/codec.js';
import { FakeSocket } from '../socket/fake.js';
import type { Envelope } from '../peer/frames.js';

/** Which side of the connection the peer under attack is. */
export type Role = 'acceptor' | 'dialer';

/** Stands in every payload, header and fragment that must never reach a log. */
export const SECRET = 'canary';

export const INNOCENT = 'innocent';
export const GOOD = 'good';

/** The highest id whose twin is a safe integer too. */
export const TOP = Number.MAX_SAFE_INTEGER - 2;

/** How a peer under attack differs from one with the defaults and no keepalive. */
export interface HostileOptions extends Omit<PeerOptions, 'codec'> {
  /** Whether the handler reads streams of the remote. Default `true`. */
  readonly reads?: boolean | undefined;
}

/** The record of a stream that the peer reads: its payload, its values, and each end that it reported. */
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

/** Sends any close code unchanged, which a browser would not allow. */
class PlainTransport extends W3cTransport {
  protected override closeCode(code: number): number {
    return code;
  }
}

/**
 * One real peer, whose remote is the test. The test sends any message at all, and reads the peer's answers.
 *
 * Tests write ids as if the remote had dialed; under the other role each id is swapped with its twin. So 1 is always the
 * remote's first stream and 2 the peer's. Both are open from the start, with {@link INNOCENT} as their payload.
 * The peer echoes each value of stream 1, and answers an open with {@link GOOD} with its payload. Without `onStream`, it keeps
 * all other streams in {@link calls}, reads them, and holds them open until they end.
 */
export class HostilePeer {
  readonly socket = new ScriptedSocket();
  readonly peer: Peer;
  readonly session: Connection;
  /** Streams of the remote that have reached the handler, except the innocent and the good. */
  readonly calls: Reading[] = [];
  /** Streams that {@link open} has opened. */
  readonly opened: Reading[] = [];
  /** The two innocent streams: the remote's, and the peer's. */
  readonly innocents: Reading[] = [];
  /** Highest id that the remote has used for an open. */
  highest = 1;
  readonly #core: PeerCore;
  /** Whether the peer has a keepalive. Without one its pings only measure how far the remote has read. */
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
    const [session] = this.#core.connections;
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

  /** Sends a raw message, or an envelope as the codec's library encodes it. An envelope may break every rule. */
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

  /** Returns the frames that the peer has sent since the last call, in order, without pings that only measure. */
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

  /** Ends the socket, with the close code of the peer if it has closed it. */
  endSocket(code = this.socket.closes.at(-1)?.[0] ?? 1006): void {
    this.socket.emit('close', { code, reason: '', wasClean: code !== 1006 }, 'CLOSED');
  }

  /** Counts what the peer still holds. The error listener stays for good: without it a late socket failure would end the process. */
  get kept(): Readonly<Record<string, number>> {
    const { streams, places, budget, outbound } = this.session;
    const kept = {
      sessions: this.#core.connections.length,
      streams: streams.size,
      places,
      heldBytes: budget.held.used,
      attachedBytes: budget.attached.used,
      queuedBytes: outbound.bytes,
      queuedFrames: outbound.frames,
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

/** The code of an error. Reading an error thrown by user code may itself throw. */
function codeOf(error: unknown): string {
  try {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  } catch {
    return 'unreadable';
  }
}
