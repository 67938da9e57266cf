import { GivenSocket } from '../../src/peer/dial/given-socket.js';
import { resolveOptions } from '../../src/peer/options.js';
import { PeerCore } from '../../src/peer/core.js';
import { Peer } from '../../src/peer/peer.js';
import type { Stream } from '../../src/stream/stream.js';
import { SOCKET_FULL_BYTES } from '../../src/connection/outbound.js';
import type { Connection } from '../../src/connection/connection.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame, FrameDirection, Metadata } from '../../src/wire/frame.js';
import { encodedLength } from '../../src/wire/length.js';
import type { Limits } from '../../src/wire/limits.js';
import { ResetCode } from '../../src/wire/codes.js';
import { BreakableCodec, shippedCodec } from '../support/codec/breakable.js';
import type { Encoder } from '../support/codec/breakable.js';
import type { Config } from './commands.js';
import { orderOf } from './orders.js';
import { TIGHT } from './tight-limits.js';
import { Held } from './held.js';
import type { Home } from './held.js';
import { StreamModel, Turns } from './model.js';
import type { End, Pipe } from './pipe.js';
import type { World } from './world.js';

/** How a value is sent. */
interface Sending {
  readonly headers?: Metadata;
  readonly trailers?: Metadata;
  readonly end: boolean;
}

/** One peer, and everything that its user has done and seen. */
export class Side implements Home {
  readonly peer: Peer;
  readonly session: Connection;
  readonly limits: Limits;
  readonly held: Held[] = [];
  readonly byId = new Map<number, Held>();
  /** The streams whose end is not checked yet. */
  readonly active = new Set<Held>();
  readonly aborts: AbortController[] = [];
  broke = false;
  /** Whether the next open interceptor throws. */
  breaksOpen = false;
  /** Whether the next reply-headers interceptor throws. */
  breaksReply = false;
  readonly #breakable;
  /** The codec without faults. */
  readonly #codec;
  readonly #models = new Map<number, StreamModel>();
  readonly #turns: Turns;
  #nextId: number;
  /** The most notifications that may wait in a queue and take an id later. */
  #waiting = 0;
  #dispatched = 0;
  #announced = Infinity;

  constructor(
    private readonly world: World,
    readonly end: End,
    config: Config,
    private readonly socket: Pipe['sockets'][0],
  ) {
    this.#turns = new Turns(world.findings);
    this.#nextId = end + 1;
    this.#breakable = new BreakableCodec(config.codec, ['encodePayload', 'encodeWith']);
    this.#codec = shippedCodec(config.codec);
    const { cap, tight, keepalive } = config;
    const core = new PeerCore(
      resolveOptions(
        {
          codec: this.#breakable.codec,
          maxFrameBytes: cap,
          limits: tight ? { ...TIGHT, pauseBytes: end === 0 ? 300 : Infinity } : {},
          keepalive: keepalive ? {} : false,
        },
        end === 0,
      ),
    );
    this.limits = core.options.limits;
    this.peer = new Peer(core, new GivenSocket(core, socket));
    this.peer.onFrame((direction, frame) => {
      this.#observe(direction, frame);
    });
    this.peer.interceptOpen(() => {
      if (!this.breaksOpen) return;
      this.breaksOpen = false;
      throw new TypeError('the interceptor is broken');
    });
    this.peer.interceptReplyHeaders(() => {
      if (!this.breaksReply) return;
      this.breaksReply = false;
      this.broke = true;
      throw new TypeError('the interceptor is broken');
    });
    this.peer.onStream((payload, stream) => this.#handle(payload, stream));
    world.awaits(this.peer.serve(), `the end of side ${end}`);
    const [session] = core.connections;
    if (session === undefined) throw new Error('expected a session');
    this.session = session;
  }

  get findings(): World['findings'] {
    return this.world.findings;
  }

  get live(): readonly Held[] {
    return this.held.filter(({ cause }) => cause === null);
  }

  /** Makes the codec fail once in this method; `null` repairs it. */
  break(at: Encoder | null): void {
    this.broke ||= at !== null;
    this.#breakable.breaksAt = at === null ? [] : [at];
  }

  weigh(payload: unknown): number {
    return encodedLength(this.#codec.encodePayload(payload));
  }

  /** Delivers a frame that no honest peer sent. */
  inject(frame: Frame): void {
    this.world.hostile = true;
    this.socket.receive(this.#codec.encode(frame));
  }

  gone({ id }: Held): void {
    this.#turns.gone(id);
  }

  /** Makes a call that opens a stream and passes it to `opened`. Only a planted fault makes the call throw. */
  opens(headers: Metadata | null, call: (opened: (stream: Stream) => Held) => void): void {
    this.#passed(this.session.nextId);
    const expected = this.#nextId;
    this.#turns.accepted(expected);
    let isOpen = false;
    try {
      call((stream) => {
        isOpen = true;
        return this.#opened(stream, headers);
      });
    } catch (error) {
      this.findings.note(isBroken(error), 'no internal error', () => `a call threw ${String(error)}`);
    }
    if (!isOpen || this.byId.get(expected)?.cause !== null) this.#turns.gone(expected);
  }

  /** Opens a stream without an answer. */
  notifies(payload: unknown): void {
    try {
      this.#passed(this.session.nextId);
      this.peer.notify(payload);
      this.#waiting++;
      this.#passed(this.session.nextId);
    } catch (error) {
      this.findings.note(isBroken(error), 'no internal error', () => `notify threw ${String(error)}`);
    }
  }

  /** Sends on a stream as its user. */
  send(held: Held, value: unknown, { end, headers, trailers }: Sending): void {
    const { stream, model, sealed } = held;
    if (!sealed) this.#turns.accepted(held.id);
    const { trailers: before } = model;
    if (!sealed && trailers !== undefined) model.trailers = trailers;
    try {
      const options = { ...(headers === undefined ? {} : { headers }), ...(trailers === undefined ? {} : { trailers }) };
      const sent = end ? stream.reply(value === ABSENT ? undefined : value, options) : stream.send(value, options);
      // A user who ignores the promise must see no unhandled rejection.
      if (held.id % 3 !== 0) this.world.awaits(sent, `a value sent on ${held.name}`);
    } catch (error) {
      if (!sealed) this.#turns.revoked(held.id);
      model.trailers = before;
      this.findings.note(isBroken(error), 'no internal error', () => `send on ${held.name} threw ${String(error)}`);
      return;
    }
    if (sealed) return;
    if (value !== ABSENT) model.accepted.push(value);
    if (headers !== undefined && !stream.local && !model.answered) model.headers = headers;
    model.answered = true;
  }

  #opened(stream: Stream, headers: Metadata | null): Held {
    const id = stream.id;
    if (id !== null) {
      this.#passed(id);
      this.#nextId = id + 2;
    }
    const model = id === null ? new StreamModel(true) : this.#modelOf(id);
    model.headers = headers;
    return this.#hold(stream, model);
  }

  /** Notes that `next` is the next id: waiting notifications have taken the ids before it. */
  #passed(next: number): void {
    const taken = (next - this.#nextId) / 2;
    this.findings.note(
      Number.isInteger(taken) && taken >= 0 && taken <= this.#waiting,
      'ids',
      () => `side ${this.end} opened ${next}, expected ${this.#nextId} after at most ${this.#waiting} waiting notifications`,
    );
    this.#waiting -= taken;
    this.#nextId = next;
  }

  #hold(stream: Stream, model: StreamModel): Held {
    const held = new Held(stream, `stream ${String(stream.id)} of side ${this.end}`, model, this);
    this.held.push(held);
    this.active.add(held);
    if (stream.id !== null) this.byId.set(stream.id, held);
    return held;
  }

  #modelOf(id: number): StreamModel {
    const known = this.#models.get(id);
    if (known !== undefined) return known;
    const model = new StreamModel(id % 2 === 1 - this.end);
    this.#models.set(id, model);
    return model;
  }

  #handle(payload: unknown, stream: Stream): unknown {
    const id = stream.id ?? 0;
    this.#dispatched = Math.max(this.#dispatched, id);
    this.findings.note(id <= this.#announced, 'goaway', () => `stream ${id} ran a handler after a goaway of ${this.#announced}`);
    const held = this.#hold(stream, this.#modelOf(id));
    const order = orderOf(payload);
    const plan = order?.plan ?? 'hold';
    held.acted = plan === 'throw' || plan === 'refuse';
    if (order !== null && plan === 'refuse' && this.world.refusesFirst(order.call)) {
      stream.reset(ResetCode.REFUSED, 'busy');
      return undefined;
    }
    if (order !== null) this.world.ran(order);
    held.call = order?.call ?? null;
    if (plan === 'throw') throw new Error('the handler fails');
    if (plan === 'echo') this.send(held, order?.text, { end: true, headers: { echo: id }, trailers: { of: id } });
    if (plan === 'return' || plan === 'echo') return undefined;
    return new Promise<void>((resolve, reject) => {
      held.work = { resolve, reject };
    });
  }

  #observe(direction: FrameDirection, frame: Frame): void {
    const { type, stream, code } = frame;
    if (stream != null) this.#modelOf(stream).observe(direction, frame);
    if (direction === 'rx') return;
    if (stream != null && (type === 'open' || type === 'data')) this.#turns.sent(stream, frame.more === true);
    const isFull = this.socket.bufferedAmount >= SOCKET_FULL_BYTES;
    this.findings.note(!isFull || type === 'goaway', 'bytes within the limit', () => `a ${type} was written to a full socket`);
    if (type === 'goaway') this.#announce(frame.last_stream ?? Infinity);
    const blames =
      frame.reason?.includes('(maxFragments)') !== true && (code === ResetCode.PROTOCOL_ERROR || code === ResetCode.STREAM_CLOSED);
    this.findings.note(
      !blames || this.world.hostile,
      'honest sides are not blamed',
      () => `${type} of ${String(stream)}: ${frame.reason ?? ''}`,
    );
  }

  #announce(last: number): void {
    this.#announced = last;
    this.findings.note(this.#dispatched === last, 'goaway', () => `stream ${this.#dispatched} had run, the goaway says ${last}`);
  }
}

function isBroken(error: unknown): boolean {
  return error instanceof TypeError && error.message.endsWith('is broken');
}
