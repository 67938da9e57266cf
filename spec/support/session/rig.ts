import { afterEach, jest } from '@jest/globals';
import { JsonCodec } from '../../../src/codec/json.js';
import { LONE_WINDOW_BYTES } from '../../../src/connection/bulk-window.js';
import type { SendPing } from '../../../src/connection/bulk-window.js';
import { Connection } from '../../../src/connection/connection.js';
import type { ConnectionLimits, ConnectionOptions, ConnectionOwner } from '../../../src/connection/connection.js';
import type { Peer } from '../../../src/peer/peer.js';
import { Waiting } from '../../../src/peer/waiting.js';
import { AbortSignals, Deadlines } from '../../../src/stream/deadlines.js';
import { Tally, defaultErrorSerializer } from '../../../src/stream/end.js';
import type { CloseCause } from '../../../src/stream/end.js';
import { extrasOf } from '../../../src/stream/extras.js';
import { hasDemand, hasRoom, overflowsWith, whenDemand, whenRoom } from '../../../src/stream/sending.js';
import { StreamCore } from '../../../src/stream/stream-core.js';
import type { StreamOwner } from '../../../src/stream/stream-core.js';
import type { SocketClose } from '../../../src/transport/transport.js';
import type { CloseReason, ResetCode } from '../../../src/wire/codes.js';
import { StreamFault } from '../../../src/wire/errors.js';
import { ABSENT } from '../../../src/wire/frame.js';
import type { CompleteFrame, Frame, FrameDirection, StreamFrame } from '../../../src/wire/frame.js';
import { encodedLength } from '../../../src/wire/length.js';
import { resolveLimits } from '../../../src/wire/limits.js';
import { toMapping } from '../../../src/wire/mapping.js';
import { OutgoingFrame, isSmall } from '../../../src/wire/outgoing.js';
import { ScriptedTransport } from '../socket/scripted-transport.js';
import { lastLoss } from './loss.js';

/** A frame with only the fields that differ from their default. */
export type Envelope = Partial<Frame>;

/** How a rig differs from an acceptor with the defaults, JSON and no keepalive. */
export interface RigOptions extends Partial<Omit<ConnectionOptions, 'transport' | 'limits' | 'owner'>> {
  readonly limits?: Partial<ConnectionLimits>;
  /** Whether the connection has begun to read. Default `true`. */
  readonly started?: boolean;
  /** Whether the connection sends pings that measure how far the remote has read. Default `true`. */
  readonly measured?: boolean;
  /** The connection knows that its line is `fast`, as after a transfer on loopback, or knows nothing of it. Default `fast`. */
  readonly line?: 'fast' | 'unknown';
}

/** A stream that records what it receives. Its reader takes each payload as it comes. */
export class Holder extends StreamCore {
  /** The open of a remote's stream, once it has arrived whole. */
  open: CompleteFrame | null = null;
  /** The whole `data` frames, in order. */
  readonly received: CompleteFrame[] = [];
  readonly ends: CloseCause[] = [];
  /** Run with each frame, and with the end. */
  onReceive: (frame: CompleteFrame) => void = () => undefined;
  onGone: (cause: CloseCause) => void = () => undefined;
  #arriving: StreamFrame | null = null;

  constructor(owner: StreamOwner, local: boolean, isNotification = false) {
    super(owner, local, isNotification, null, ABSENT);
    this.reader = { next: () => this.#record(), error: () => undefined, complete: () => undefined };
    extrasOf(this).whenGone((cause) => {
      this.ends.push(cause);
      this.onGone(cause);
    });
  }

  /** The stream itself, which a socket has accepted. */
  get live(): Holder & { readonly id: number } {
    return this as Holder & { readonly id: number };
  }

  keep(bytes: number): boolean {
    return this.ownReceiving.keep(bytes, bytes);
  }

  read(bytes: number): void {
    this.ownReceiving.read(bytes, bytes);
  }

  handOver(): void {
    this.ownReceiving.handOver();
  }

  get hasRoom(): boolean {
    return hasRoom(this);
  }

  get hasDemand(): boolean {
    return hasDemand(this);
  }

  overflowsWith(bytes: number): boolean {
    return overflowsWith(this, bytes);
  }

  whenRoom(task: () => void): void {
    whenRoom(this, task);
  }

  whenDemand(task: () => void): void {
    whenDemand(this, task);
  }

  /** Payloads received, in order. */
  get payloads(): readonly unknown[] {
    return this.received.map(({ payload }) => payload).filter((payload) => payload !== ABSENT);
  }

  override next(value: StreamFrame | StreamFault): void {
    const { hasClosed } = this;
    this.#arriving = value instanceof StreamFault || value.type === 'reset' ? null : value;
    if (this.#arriving?.type === 'open') {
      this.open = this.#arriving;
      this.#arriving = null;
    }
    super.next(value);
    // A bare end, or bare headers.
    if (!hasClosed) this.#record();
  }

  #record(): void {
    const frame = this.#arriving;
    this.#arriving = null;
    if (frame === null) return;
    this.received.push(frame);
    this.onReceive(frame);
  }
}

const made = new Set<Rig>();

// An unended connection has timers that would keep the process alive.
afterEach(() => {
  for (const rig of made) rig.transport.end();
  made.clear();
});

/** One connection over a scripted socket. It ends after the test. */
export class Rig {
  readonly transport = new ScriptedTransport();
  readonly connection: Connection;
  /** Where unsent streams wait for the next socket. */
  readonly waiting = new Waiting(Infinity);
  /** Whether an unsent stream may wait for another socket. */
  expectsSocket = false;
  readonly #owner: ConnectionOwner;
  /** The streams that the remote has opened, in order. */
  readonly remotes: Holder[] = [];
  readonly refused: (readonly [code: number, reason: string])[] = [];
  readonly observed: (readonly [FrameDirection, Envelope])[] = [];
  readonly tally = new Tally();
  /** The ids of the streams that ended as the last open ones. */
  readonly idle: (number | null | undefined)[] = [];
  /** In ms. */
  readonly roundTrips: number[] = [];
  /** Each frame that was encoded, with its length in bytes. */
  readonly encoded: (readonly [type: string, bytes: number])[] = [];
  /** Codes of the goaways received. */
  readonly goaways: (ResetCode | null)[] = [];
  readonly endings: { readonly close: SocketClose; readonly goawayCode: ResetCode | null }[] = [];
  readonly reasons: CloseReason[] = [];
  /** Run with each stream that the remote opens. */
  onOpened: (holder: Holder) => void = () => undefined;
  /** Run with each frame that is observed. */
  onObserved: (direction: FrameDirection, frame: Frame) => void = () => undefined;
  /** How often a notification of several messages has left whole. */
  notified = 0;
  #told = 0;

  constructor({ limits: { note, ...limits } = {}, started = true, measured = true, line = 'fast', ...options }: RigOptions = {}) {
    this.#owner = this.#makeOwner();
    this.connection = new Connection({
      codec: new JsonCodec(),
      isDialer: false,
      keepalive: null,
      maxFrameBytes: 65_536,
      number: 1,
      ...options,
      transport: this.transport,
      limits: { ...resolveLimits(limits), note },
      owner: this.#owner,
    });
    if (!measured) jest.spyOn(this.connection.transit, 'sent').mockReturnValue(false);
    if (line === 'fast') this.#knowFastLine();
    if (started) this.connection.start();
    made.add(this);
  }

  /** Runs turns until nothing more is written. */
  settle(): void {
    while (this.transport.turnsDue > 0) this.transport.nextTurn();
  }

  /** Everything sent so far, decoded. */
  get sent(): readonly Envelope[] {
    return this.transport.sent.map((message) => toMapping(this.connection.codec.decode(message)));
  }

  /** The frames sent since `news` was last read. */
  get news(): readonly Envelope[] {
    const all = this.sent;
    return all.slice(this.#told, (this.#told = all.length));
  }

  /** Skips the frames sent so far, so that `news` leaves them out. */
  forget(): void {
    this.#told = this.transport.sent.length;
  }

  /** Receives frames, one message each. */
  receive(...frames: readonly Frame[]): void {
    for (const frame of frames) this.transport.receive(this.connection.codec.encode(frame));
  }

  /** The remote opens a stream. */
  remote(id: number, open: Partial<Frame> = {}): Holder {
    this.receive({ type: 'open', stream: id, ...open });
    return this.held(id);
  }

  /** The holder of a stream that the remote has opened. */
  held(id: number): Holder {
    const holder = this.remotes.find(({ live }) => live.id === id);
    if (holder === undefined) throw new Error(`expected stream ${id} to have been opened, got ${this.remotes.length} others`);
    return holder;
  }

  /** This side opens a stream; its open is not sent. */
  local(forgotten = false): Holder {
    const holder = new Holder(this.#owner, true, forgotten);
    this.connection.adopt(holder);
    return holder;
  }

  /** This side opens a stream and sends its open. */
  open(frame: Partial<Frame> = {}, forgotten = false): Holder {
    const holder = this.local(forgotten);
    this.send(holder, { type: 'open', ...frame });
    return holder;
  }

  /** Sends a frame on a stream; `data` unless it says otherwise. */
  send({ live }: Holder, { payload = ABSENT, ...frame }: Partial<Frame>): void {
    const { codec, maxFrameBytes } = this.connection;
    const encoded = payload === ABSENT ? null : codec.encodePayload(payload);
    const fields = { type: 'data', payload, ...frame };
    live.send(new OutgoingFrame(fields, encoded, codec, null, isSmall(fields, encoded, maxFrameBytes, codec)));
  }

  /** Whether the connection keeps nothing: no streams, places, queued or held bytes, and no subscription to its socket. */
  get isEmpty(): boolean {
    const { streams, places, budget, outbound } = this.connection;
    const held = streams.size + places + budget.used + outbound.bytes + outbound.frames;
    return held === 0 && !this.transport.read;
  }

  #knowFastLine(): void {
    const { outbound, transit } = this.connection;
    const ping: SendPing = transit.ping.bind(transit);
    let ask: SendPing = (answered) => {
      ask = ping;
      answered(1);
      return () => undefined;
    };
    Object.assign(transit, { ping: (answered: (ms: number) => void) => ask(answered) });
    const nobody = new Holder(this.#owner, true);
    outbound.pacing.sent(nobody, LONE_WINDOW_BYTES);
    outbound.pacing.release(nobody);
    outbound.pacing.probe();
    Object.assign(transit, { ping });
  }

  #makeOwner(): ConnectionOwner {
    const expects = (): boolean => this.expectsSocket;
    return scriptedOwner({
      get expectsSocket() {
        return expects();
      },
      tally: this.tally,
      accept: (stream) => {
        if (!(stream instanceof Holder)) return;
        this.remotes.push(stream);
        this.onOpened(stream);
      },
      requeue: (stream) => {
        this.waiting.requeue(stream);
      },
      refused: (code, reason) => {
        this.refused.push([code, reason]);
      },
      observed: (_connection, direction, frame) => {
        this.observed.push([direction, toMapping(frame)]);
        this.onObserved(direction, frame);
      },
      sized: {
        encoded: (_connection, frame, message) => {
          this.encoded.push([frame.type, typeof message === 'string' ? encodedLength(message) : message.byteLength]);
        },
      },
      answered: (rttMs) => this.roundTrips.push(rttMs),
      idle: (_connection, last) => this.idle.push(last.id),
      notified: () => this.notified++,
      goneAway: (_connection, code) => this.goaways.push(code),
      ending: ({ goawayCode }, close) => {
        this.endings.push({ close, goawayCode });
        return lastLoss(close);
      },
      ended: ({ reason }) => this.reasons.push(reason),
    });
  }
}

/** An owner of connections that does nothing, except for what is given. The streams of its remotes are {@link Holder}s. */
export function scriptedOwner(given: Partial<ConnectionOwner> = {}): ConnectionOwner {
  const owner: ConnectionOwner = {
    get peer(): Peer {
      throw new Error('expected no use of a peer, because a scripted owner has none');
    },
    label: 'scripted',
    codec: new JsonCodec(),
    options: { errorSerializer: defaultErrorSerializer, label: () => '', maxFrameBytes: 65_536 },
    hooks: { replyHeaders: { entries: [] }, incomingHeaders: { entries: [] }, errors: { entries: [] } },
    tally: new Tally(),
    deadlines: new Deadlines(),
    signals: new AbortSignals(),
    isClosing: false,
    expectsSocket: false,
    absence: { reason: 'the owner has no socket', error: null },
    nextStreamId: null,
    sized: null,
    sendShared: null,
    accept: () => undefined,
    requeue: () => undefined,
    remoteStream: () => new Holder(owner, false),
    refused: () => undefined,
    observed: () => undefined,
    answered: () => undefined,
    idle: () => undefined,
    notified: () => undefined,
    goneAway: () => undefined,
    ending: (_connection, close) => lastLoss(close),
    ended: () => undefined,
  };
  return Object.defineProperties(owner, Object.getOwnPropertyDescriptors(given));
}

/** The types of the frames sent since `news` was last read. */
export function typesOf(rig: Rig): unknown[] {
  return rig.news.map(({ type }) => type);
}
