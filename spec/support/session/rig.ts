import { afterEach, jest } from '@jest/globals';
import { JsonCodec } from '../../../src/codec/json.js';
import type { CloseCause } from '../../../src/stream/end.js';
import { LiveStream } from '../../../src/stream/stream-core.js';
import { BulkWindow, LONE_WINDOW_BYTES } from '../../../src/connection/bulk-window.js';
import type { SendPing } from '../../../src/connection/bulk-window.js';
import { Session } from '../../../src/connection/connection.js';
import type { SessionLimits, SessionOptions } from '../../../src/connection/connection.js';
import type { SessionOwner } from '../../../src/connection/connection.js';
import { Tally } from '../../../src/connection/connection.js';
import type { Unsent } from '../../../src/connection/outbound.js';
import type { SocketClose } from '../../../src/transport/transport.js';
import type { CloseReason } from '../../../src/wire/codes.js';
import { isSmall } from '../../../src/wire/outgoing.js';
import { ABSENT } from '../../../src/wire/frame.js';
import type { CompleteFrame, Frame, FrameDirection } from '../../../src/wire/frame.js';
import { encodedLength } from '../../../src/wire/length.js';
import { resolveLimits } from '../../../src/wire/limits.js';
import { toMapping } from '../../../src/wire/mapping.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';
import type { ResetCode } from '../../../src/wire/codes.js';
import { hasDemand, hasRoom, overflowsWith, whenDemand, whenRoom } from '../../../src/stream/sending.js';
import { lastLoss } from './loss.js';
import { ScriptedTransport } from '../socket/scripted-transport.js';

/** A frame with only the fields that differ from their default. */
export type Envelope = Partial<Frame>;

/** How a rig differs from an acceptor with the defaults, JSON and no keepalive. */
export interface RigOptions extends Partial<Omit<SessionOptions, 'transport' | 'limits' | 'owner'>> {
  readonly limits?: Partial<SessionLimits>;
  /** Whether the session has begun to read. Default `true`. */
  readonly started?: boolean;
  /** Whether the session sends pings that measure how far the remote has read. Default `true`. */
  readonly measured?: boolean;
  /** The session knows that its line is `fast`, as after a transfer on loopback, or knows nothing of it. Default `fast`. */
  readonly line?: 'fast' | 'unknown';
}

/** Holds one stream as a peer would, and records each notification. */
export class Holder extends LiveStream {
  /** The open of a remote's stream, once it has arrived whole. */
  open: CompleteFrame | null = null;
  readonly received: CompleteFrame[] = [];
  readonly ends: CloseCause[] = [];
  /** Run with each frame, and with the end. */
  onReceive: (frame: CompleteFrame) => void = () => undefined;
  onGone: (cause: CloseCause) => void = () => undefined;

  /** Decides whether an unsent stream waits for another socket. */
  onRequeue: (unsent: Unsent) => boolean = () => false;

  /** @param onAccepted called with a remote's stream whose open has arrived whole */
  constructor(
    local: boolean,
    isNotification = false,
    private readonly onAccepted: (holder: Holder) => void = () => undefined,
  ) {
    super(local, isNotification);
  }

  /** The stream itself, which a socket has accepted. */
  get live(): Holder & { readonly id: number } {
    return this as Holder & { readonly id: number };
  }

  keep(bytes: number): boolean {
    return this.held.keep(bytes);
  }

  read(bytes: number): void {
    this.held.read(bytes);
  }

  handOver(): void {
    this.held.handOver();
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

  accept(open: CompleteFrame): void {
    this.open = open;
    this.onAccepted(this);
  }

  receive(frame: CompleteFrame): void {
    this.received.push(frame);
    this.onReceive(frame);
  }

  gone(cause: CloseCause): void {
    this.ends.push(cause);
    this.onGone(cause);
  }

  requeue(unsent: Unsent): boolean {
    return this.onRequeue(unsent);
  }
}

const made = new Set<Rig>();

// An unended session has timers that would keep the process alive.
afterEach(() => {
  for (const rig of made) rig.transport.end();
  made.clear();
});

/** One session over a scripted socket. It ends after the test. */
export class Rig {
  readonly transport = new ScriptedTransport();
  readonly session: Session;
  /** The streams that the remote has opened, in order. */
  readonly remotes: Holder[] = [];
  readonly refused: (readonly [code: number, reason: string])[] = [];
  readonly observed: (readonly [FrameDirection, Envelope])[] = [];
  readonly tally = new Tally();
  /** How often the last open stream has ended. */
  idle = 0;
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
    this.session = new Session({
      codec: new JsonCodec(),
      isDialer: false,
      keepalive: null,
      maxFrameBytes: 65_536,
      number: 1,
      ...options,
      transport: this.transport,
      limits: { ...resolveLimits(limits), note },
      owner: this.#owner(),
    });
    if (!measured) jest.spyOn(this.session.transit, 'sent').mockReturnValue(false);
    if (line === 'fast') this.#knowFastLine();
    if (started) this.session.start();
    made.add(this);
  }

  /** Runs turns until nothing more is written. */
  settle(): void {
    while (this.transport.turnsDue > 0) this.transport.nextTurn();
  }

  /** Everything sent so far, decoded. */
  get sent(): readonly Envelope[] {
    return this.transport.sent.map((message) => toMapping(this.session.codec.decode(message)));
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
    for (const frame of frames) this.transport.receive(this.session.codec.encode(frame));
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
    const holder = new Holder(true, forgotten);
    this.session.adopt(holder);
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
    const { codec, maxFrameBytes } = this.session;
    const encoded = payload === ABSENT ? null : codec.encodePayload(payload);
    const fields = { type: 'data', payload, ...frame };
    live.send(new OutgoingFrame(fields, encoded, codec, null, isSmall(fields, encoded, maxFrameBytes, codec)));
  }

  /** Whether the session keeps nothing: no streams, places, queued or held bytes, and no subscription to its socket. */
  get isEmpty(): boolean {
    const { streams, receiveBudget, scheduler } = this.session;
    const held = streams.size + streams.occupied + receiveBudget.used + scheduler.backlog.bytes + scheduler.backlog.queues.size;
    return held === 0 && !this.transport.read;
  }

  #knowFastLine(): void {
    const { scheduler, transit } = this.session;
    let ping: SendPing = (answered) => {
      ping = transit.ping;
      answered(1);
      return () => undefined;
    };
    const window = new BulkWindow((answered) => ping(answered), scheduler.pump, scheduler.backlog);
    window.sent(0, LONE_WINDOW_BYTES);
    window.release(0);
    window.probe();
    scheduler.bulk.window = window;
  }

  #owner(): SessionOwner {
    return {
      tally: this.tally,
      remoteStream: () =>
        new Holder(false, false, (holder) => {
          this.remotes.push(holder);
          this.onOpened(holder);
        }),
      refused: (code, reason) => {
        this.refused.push([code, reason]);
      },
      observed: (_session, direction, frame) => {
        this.observed.push([direction, toMapping(frame)]);
        this.onObserved(direction, frame);
      },
      sized: {
        encoded: (_session, frame, message) => {
          this.encoded.push([frame.type, typeof message === 'string' ? encodedLength(message) : message.byteLength]);
        },
      },
      answered: (rttMs) => this.roundTrips.push(rttMs),
      idle: () => this.idle++,
      notified: () => this.notified++,
      goneAway: (_session, code) => this.goaways.push(code),
      ending: ({ goawayCode }, close) => {
        this.endings.push({ close, goawayCode });
        return lastLoss(close);
      },
      ended: ({ reason }) => this.reasons.push(reason),
    };
  }
}

/** The types of the frames sent since `news` was last read. */
export function typesOf(rig: Rig): unknown[] {
  return rig.news.map(({ type }) => type);
}
