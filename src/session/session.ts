import { catchError, filter, ignoreElements, map, merge, Subject, Subscription, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { logger } from '../logger.js';
import { assemble } from '../operators/assemble.js';
import { decode } from '../operators/decode.js';
import { demultiplex } from '../operators/demultiplex.js';
import { encode } from '../operators/encode.js';
import { fragment } from '../operators/fragment.js';
import type { SocketClose, Transport } from '../transport/transport.js';
import { CloseCode } from '../wire/close-reason.js';
import type { CloseReason } from '../wire/close-reason.js';
import type { Codec, Message } from '../wire/codec.js';
import { StreamIdsExhaustedError } from '../wire/errors.js';
import { ConnectionFault } from '../wire/fault.js';
import type { CompleteFrame, Frame, FrameDirection } from '../wire/frame.js';
import { HeldBytes } from '../wire/held-bytes.js';
import { encodedLength, fitsWithin, truncateToBytes } from '../wire/length.js';
import type { Limits } from '../wire/limits.js';
import { OutgoingFrame } from '../wire/outgoing.js';
import { Reassembly } from '../wire/reassembly.js';
import { ResetCode } from '../wire/reset-code.js';
import { Admission } from './admission.js';
import { Closing } from './closing.js';
import { Connection } from './connection.js';
import { Flood } from './flood.js';
import type { KeepaliveTimes } from './keepalive.js';
import { LiveStream } from './live-stream.js';
import { Reading } from './reading.js';
import { Scheduler } from './scheduler.js';
import { StreamTable } from './stream-table.js';
import { Vigil } from './vigil.js';

/** What a session is made of. */
export interface SessionOptions {
  readonly transport: Transport;
  readonly codec: Codec;
  readonly limits: Limits;
  readonly isDialer: boolean;
  /** `null`: the connection is never probed. */
  readonly keepalive: KeepaliveTimes | null;
  /** Bytes of one encoded message at most. */
  readonly maxFrameBytes: number;
  /** The first id of this side's streams; default 1 for the dialer and 2 for the acceptor. */
  readonly firstId?: number;
  readonly owner: SessionOwner;
}

/** Who holds the session: told of what concerns more than one stream. */
export interface SessionOwner {
  /** A stream that the remote opened has arrived whole. */
  opened(stream: LiveStream, open: CompleteFrame): void;
  /** A frame goes out or has come in. */
  observed(direction: FrameDirection, frame: Frame): void;
  /** The remote goes away: this socket takes no new streams. */
  goneAway(code: ResetCode | null): void;
  /** The socket has ended; `announced` is the code of the remote's goaway. Every stream still live fails with what this returns. */
  ending(close: SocketClose, announced: ResetCode | null): CloseReason;
  /** The last stream has been failed. */
  ended(reason: CloseReason): void;
}

/** What the reason of a reset or goaway is cut to, in bytes, and what it may take of a small cap. */
const MAX_REASON_BYTES = 1024;
const REASON_SHARE = 8;

/** One socket's life: the two rivers, frames in to their streams and frames out in their turn, and the one subscription that holds them. */
export class Session {
  readonly transport: Transport;
  readonly codec: Codec;
  readonly limits: Limits;
  readonly isDialer: boolean;
  readonly maxFrameBytes: number;
  readonly held: HeldBytes;
  readonly reading: Reading;
  readonly scheduler: Scheduler;
  readonly vigil: Vigil;
  readonly flood: Flood;
  readonly connection: Connection;
  readonly streams: StreamTable;
  readonly closing: Closing;
  readonly #owner: SessionOwner;
  readonly #admission: Admission;
  readonly #reassembly: Reassembly;
  readonly #accepted = new Subject<CompleteFrame>();
  readonly #root = new Subscription();
  #message: Message = '';
  #announced: ResetCode | null = null;

  constructor(options: SessionOptions) {
    const { transport, codec, limits, isDialer } = options;
    this.transport = transport;
    this.codec = codec;
    this.limits = limits;
    this.isDialer = isDialer;
    this.maxFrameBytes = options.maxFrameBytes;
    this.#owner = options.owner;
    this.held = new HeldBytes(limits.maxHeldBytes);
    this.reading = new Reading(transport, limits.pauseMs);
    this.flood = new Flood(limits);
    this.connection = new Connection(this);
    this.streams = new StreamTable(this.connection, isDialer, options.firstId ?? (isDialer ? 1 : 2));
    this.closing = new Closing(this);
    this.#admission = new Admission(this);
    this.#reassembly = new Reassembly(codec, limits, this.held);
    this.vigil = new Vigil(
      {
        transport,
        limits,
        reading: this.reading,
        unsentBytes: () => this.scheduler.unsentBytes,
        ping: () => {
          this.connection.probe();
        },
      },
      options.keepalive,
    );
    this.scheduler = new Scheduler(
      transport,
      limits,
      (slice) => this.streams.get(slice.stream ?? 0)?.sent(slice),
      () => {
        this.vigil.full();
      },
    );
    this.#root.add(this.#outbound().subscribe());
  }

  /** Begins to read. Until then the transport keeps what arrives. */
  start(): void {
    this.#root.add(merge(this.#inbound(), this.vigil.keepalive$).subscribe());
  }

  /** Opens a stream of this side; its first frame is what `LiveStream.send` is given first. */
  open(forgotten = false): LiveStream {
    if (this.streams.exhausted)
      throw new StreamIdsExhaustedError('expected a free stream id, got none: this connection has used all of them');
    const stream = new LiveStream(this, this.streams.nextId, true, forgotten);
    this.streams.add(stream);
    return stream;
  }

  /** Whether this socket takes no new streams of this side. */
  get closedToNew(): boolean {
    const { goaway } = this.connection;
    return goaway.left || goaway.leaving;
  }

  /** Queues one whole frame. */
  send(frame: CompleteFrame): void {
    this.#accepted.next(frame);
  }

  /** Queues a control frame that the remote caused; a remote that makes too many of them without reading is cut off. */
  sendCaused(frame: CompleteFrame): void {
    this.send(frame);
    const { maxControlFrames } = this.limits;
    if (this.scheduler.unsentControl > maxControlFrames)
      throw ConnectionFault.tooMuch(`more than ${maxControlFrames} unread answers (maxControlFrames)`);
  }

  /** Resets a stream that this side does not hold. */
  answer(id: number, code: ResetCode, reason: string): void {
    this.sendCaused(new OutgoingFrame({ type: 'reset', stream: id, code, reason: this.cutReason(reason) }, null));
  }

  /** Why the remote may not open `id` now, or `null`. */
  refusal(id: number): string | null {
    if (this.connection.goaway.refuses(id)) return 'this side is going away';
    const { maxStreams } = this.limits;
    if (this.streams.occupied >= maxStreams) return `more than ${maxStreams} streams (maxStreams)`;
    return this.flood.refusal;
  }

  /** A stream that the remote opened is whole: its owner takes it from here. */
  complete(stream: LiveStream, open: CompleteFrame): void {
    this.#owner.opened(stream, open);
  }

  /** A stream is closed: what is held for it goes, before anybody is told. */
  left(stream: LiveStream): void {
    this.streams.remove(stream);
    this.#reassembly.release(stream.id);
    this.reading.clear(stream);
    this.closing.streamLeft();
  }

  /** The remote goes away: streams of this side above `last` were not processed. */
  goneAway(last: number, code: ResetCode | null, reason: string): void {
    this.#announced = code;
    for (const stream of this.streams.all()) {
      if (stream.local && (stream.id > last || stream.phase === 'idle'))
        stream.refused(reason === '' ? 'the remote is going away' : reason);
    }
    if (code !== null && code !== ResetCode.NO_ERROR) this.closing.hurry();
    this.#owner.goneAway(code);
  }

  /** Bytes of the payload that is being delivered right now. */
  get arrivedBytes(): number {
    return Math.max(encodedLength(this.#message), this.#reassembly.assembledBytes);
  }

  /** Cuts a reason so that its frame fits the cap however it is escaped. */
  cutReason(reason: string): string {
    return truncateToBytes(reason, Math.min(MAX_REASON_BYTES, Math.floor(this.maxFrameBytes / REASON_SHARE)));
  }

  /** Ends the connection for what is wrong with it. */
  fail(error: unknown): void {
    if (error instanceof ConnectionFault) this.closing.fail(error);
    else {
      logger.error('rxmux: internal error, the connection is closed', error);
      this.closing.fail(new ConnectionFault('internal error', ResetCode.INTERNAL_ERROR, CloseCode.INTERNAL, { cause: error }));
    }
  }

  /** Fragments are outstanding; they have a time to be completed in. */
  awaitFragments(): void {
    this.vigil.awaitFragments(
      () => this.#reassembly.unfinished.length > 0,
      () => {
        const { reassemblyTimeoutMs } = this.limits;
        for (const id of this.#reassembly.unfinished) {
          this.streams
            .get(id)
            ?.reset('library', ResetCode.DEADLINE_EXCEEDED, `no fragment for ${reassemblyTimeoutMs} ms (reassemblyTimeoutMs)`);
        }
      },
    );
  }

  #receive(message: Message): void {
    this.#message = message;
    this.vigil.received();
    const { maxMessageBytes } = this.limits;
    const size = typeof message === 'string' ? message.length : message.byteLength;
    this.flood.received(size);
    if (!fitsWithin(message, maxMessageBytes)) {
      throw new ConnectionFault(
        `message of ${encodedLength(message)} bytes is over the limit of ${maxMessageBytes} (maxMessageBytes)`,
        ResetCode.ENHANCE_YOUR_CALM,
        CloseCode.TOO_BIG,
      );
    }
  }

  #end(): void {
    const close = this.transport.closed ?? { code: CloseCode.ABNORMAL, reason: '', wasClean: false };
    this.#root.unsubscribe();
    this.vigil.stop();
    this.closing.stop();
    this.reading.stop();
    this.scheduler.finish(null);
    const reason = this.#owner.ending(close, this.#announced);
    for (const stream of this.streams.all()) stream.lose(reason);
    this.connection.lose(reason);
    this.#owner.ended(reason);
  }

  #inbound(): Observable<never> {
    const frames$ = this.transport.messages$.pipe(
      tap((message) => {
        this.#receive(message);
      }),
      decode(this.codec),
      tap((frame) => {
        this.#owner.observed('rx', frame);
      }),
    );
    return frames$.pipe(
      map((frame) => this.#admission.admit(frame)),
      filter((frame) => frame !== null),
      assemble(this.codec, this.limits, this.#reassembly),
      demultiplex(this.streams.sinks),
      catchError((fault: unknown) => {
        this.fail(fault);
        return this.transport.messages$;
      }),
      ignoreElements(),
      tap({
        complete: () => {
          this.#end();
        },
      }),
    );
  }

  #outbound(): Observable<never> {
    return this.#accepted.pipe(
      fragment(this.codec, this.maxFrameBytes, this.scheduler),
      tap((frame) => {
        this.#owner.observed('tx', frame);
      }),
      encode(this.codec),
      tap((message) => {
        this.transport.send(message);
        this.vigil.sent(typeof message === 'string' ? message.length : message.byteLength);
      }),
      ignoreElements(),
    );
  }
}
