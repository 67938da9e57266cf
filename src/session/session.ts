import type { Observable } from 'rxjs';
import { log } from '../logger.js';
import { assemble } from '../operators/assemble.js';
import { decode } from '../operators/decode.js';
import { demultiplex } from '../operators/demultiplex.js';
import { encode } from '../operators/encode.js';
import { fragment } from '../operators/fragment.js';
import { mapPresent } from '../operators/map-present.js';
import type { Transport } from '../transport/transport.js';
import { CloseCode } from '../wire/close-reason.js';
import type { Codec, Message } from '../wire/codec.js';
import { StreamIdsExhaustedError } from '../wire/errors.js';
import { ConnectionFault } from '../wire/fault.js';
import type { CompleteFrame, Frame } from '../wire/frame.js';
import { encodedLength } from '../wire/length.js';
import type { Limits } from '../wire/limits.js';
import { Reassembly } from '../wire/reassembly.js';
import { ResetCode } from '../wire/reset-code.js';
import { Admission } from './admission.js';
import { Answers } from './answers.js';
import { Closing } from './closing.js';
import { Connection } from './connection.js';
import { Flood } from './flood.js';
import { Intake } from './intake.js';
import { LiveStream } from './live-stream.js';
import { Outbox } from './outbox.js';
import { Reading } from './reading.js';
import { River } from './river.js';
import type { Scheduler } from './scheduler.js';
import type { SessionOptions, SessionOwner } from './session-options.js';
import { StreamTable } from './stream-table.js';
import { Vigil } from './vigil.js';

/** One socket's life: the two rivers, frames in to their streams and frames out in their turn. */
export class Session {
  readonly transport: Transport;
  readonly codec: Codec;
  readonly limits: Limits;
  readonly isDialer: boolean;
  readonly number: number;
  readonly maxFrameBytes: number;
  readonly reading: Reading;
  readonly intake: Intake;
  readonly outbox: Outbox;
  readonly scheduler: Scheduler;
  readonly vigil: Vigil;
  readonly flood: Flood;
  readonly answers: Answers;
  readonly connection: Connection;
  readonly streams: StreamTable;
  readonly closing: Closing;
  readonly admission: Admission;
  readonly owner: SessionOwner;
  readonly #reassembly: Reassembly;
  readonly #out = new River(
    () => this.#outbound(),
    (error) => {
      this.outbox.unwritten(error);
    },
  );
  #messageBytes = 0;

  constructor(options: SessionOptions) {
    const { transport, codec, limits, isDialer } = options;
    this.transport = transport;
    this.codec = codec;
    this.limits = limits;
    this.isDialer = isDialer;
    this.number = options.number;
    this.maxFrameBytes = options.maxFrameBytes;
    this.owner = options.owner;
    this.reading = new Reading(transport, limits.pauseMs);
    this.intake = new Intake(limits, this.reading);
    this.flood = new Flood(limits);
    this.answers = new Answers(this);
    this.connection = new Connection(this);
    this.streams = new StreamTable(isDialer, options.firstId ?? (isDialer ? 1 : 2));
    this.closing = new Closing(this);
    this.admission = new Admission(this);
    this.#reassembly = new Reassembly(codec, limits, this.intake.held);
    this.outbox = new Outbox(this);
    this.scheduler = this.outbox.scheduler;
    this.vigil = new Vigil(this, options.keepalive);
    this.#out.start();
  }

  /** Begins to read. Until then the transport keeps what arrives. */
  start(): void {
    new River(() => this.#inbound(), this.fail.bind(this), this.#end.bind(this)).start();
    this.vigil.start();
  }

  /** Opens a stream of this side; its open has to be sent before another stream is opened. */
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
    return this.closing.isOver || goaway.left || goaway.leaving || !this.transport.writable;
  }

  /** Code of the remote's goaway; `null` where there was none. */
  get announced(): ResetCode | null {
    return this.connection.goaway.receivedCode;
  }

  /** A stream is closed: what is held for it goes, before anybody is told. */
  left(stream: LiveStream): void {
    this.streams.delete(stream.id);
    this.#reassembly.release(stream.id);
  }

  /** A closed stream's owner has been told: what waited for its end goes on. */
  released(stream: LiveStream): void {
    this.scheduler.release(stream.id);
    this.closing.streamLeft();
  }

  /** The remote goes away: streams of this side above `last` were not processed, and those not yet sent can go elsewhere. */
  goneAway(last: number, code: ResetCode, reason: string): void {
    for (const stream of this.streams.values()) {
      if (stream.local && (stream.id > last || stream.unsent)) stream.refused(reason === '' ? 'the remote is going away' : reason);
    }
    this.scheduler.dropUnopened();
    if (code !== ResetCode.NO_ERROR) this.closing.hurry();
    this.owner.goneAway(this, code);
  }

  /** Bytes of the payload that is being delivered right now. */
  get arrivedBytes(): number {
    return Math.max(this.#messageBytes, this.#reassembly.assembledBytes);
  }

  /** Ends the connection for what is wrong with it. */
  fail(error: unknown): void {
    if (error instanceof ConnectionFault) this.closing.fail(error);
    else {
      log('error', 'rxmux: internal error, the connection is closed', error);
      this.closing.fail(new ConnectionFault('internal error', ResetCode.INTERNAL_ERROR, CloseCode.INTERNAL, { cause: error }));
    }
  }

  #inbound(): Observable<unknown> {
    return this.transport.messages$.pipe(
      mapPresent((message) => this.#receives(message)),
      decode(this.codec, this.limits),
      mapPresent((frame) => this.#arrived(frame)),
      assemble(this.codec, this.limits, this.#reassembly),
      demultiplex(this.admission),
    );
  }

  #outbound(): Observable<unknown> {
    return this.outbox.accepted$.pipe(
      fragment(this.codec, this.maxFrameBytes, this.scheduler),
      mapPresent((frame) => this.#leaves(frame)),
      encode(this.codec),
      mapPresent((message) => {
        this.vigil.sent(this.transport.send(message));
        return null;
      }),
    );
  }

  /** A frame whose turn it is to be written, or `null` for one that does not concern the remote. */
  #leaves(frame: Frame): Frame | null {
    if (!this.outbox.leaving(frame)) return null;
    this.owner.observed(this, 'tx', frame);
    return frame;
  }

  /** A message that is read; none is once the connection has failed. */
  #receives(message: Message): Message | null {
    if (this.closing.isOver) return null;
    const bytes = (this.#messageBytes = encodedLength(message));
    this.vigil.received();
    this.flood.received(bytes);
    const { maxMessageBytes } = this.limits;
    if (bytes <= maxMessageBytes) return message;
    throw new ConnectionFault(
      `message of ${bytes} bytes is over the limit of ${maxMessageBytes} (maxMessageBytes)`,
      ResetCode.ENHANCE_YOUR_CALM,
      CloseCode.TOO_BIG,
    );
  }

  /** The frame for its stream, or `null` when it is dropped. */
  #arrived(frame: CompleteFrame): CompleteFrame | null {
    this.owner.observed(this, 'rx', frame);
    // An observer may have ended it all.
    if (this.closing.isOver) return null;
    const admitted = this.admission.admit(frame);
    if (admitted !== null && this.#messageBytes > this.limits.maxPayloadBytes && !this.admission.fits(admitted, this.#messageBytes))
      return null;
    if (admitted?.more === true) this.vigil.awaitFragments(this.#reassembly);
    return admitted;
  }

  #end(): void {
    const close = this.transport.closed ?? { code: CloseCode.ABNORMAL, reason: '', wasClean: false };
    this.closing.ended();
    this.vigil.stop();
    this.reading.finish();
    this.scheduler.stop(null);
    const loss = this.owner.ending(this, close);
    for (const stream of this.streams.values()) stream.lose(loss.reason);
    this.connection.lose(loss.reason);
    this.#out.unsubscribe();
    this.scheduler.clear();
    this.streams.clearResets();
    this.owner.ended(loss);
  }
}
