import type { Frame } from '../../wire/frame.js';
import { BULK_FRAME_BYTES, BulkWindow } from './bulk-window.js';
import type { SendPing } from './bulk-window.js';

/** Knows which of the leaving frames are bulk, and which streams have to wait with more. The first bulk creates the window. */
export class BulkPacing {
  #window: BulkWindow | null = null;
  #isBulk = false;

  constructor(
    private readonly transit: { readonly ping: SendPing },
    /** Called once bulk may go on. */
    private readonly opened: () => void,
    /** Returns whether a stream has more to send. */
    private readonly hasMore: (stream: number) => boolean,
  ) {}

  /** Whether the last frame that left was bulk. */
  get isBulk(): boolean {
    return this.#isBulk;
  }

  /** Whether a stream has sent bulk, and its next frame has to wait for more answers. */
  holds(stream: number): boolean {
    return this.#window?.holds(stream) === true;
  }

  /**
   * A frame or slice is about to leave. A ping that it needs follows it.
   *
   * @param isCut whether it is one of several slices
   */
  leaving(slice: Frame, bytes: number, isCut: boolean): void {
    const { stream } = slice;
    this.#isBulk = false;
    if (typeof stream !== 'number') return;
    this.#isBulk = isCut || bytes >= BULK_FRAME_BYTES;
    if (this.#isBulk) (this.#window ??= new BulkWindow(this.transit.ping, this.opened, this.hasMore)).sent(stream, bytes);
    else this.#window?.passed(stream);
    // A reset may leave after its stream was released.
    if (slice.type === 'reset' && slice.more !== true) this.#window?.release(stream);
  }

  /** A frame of the control queue is about to leave. */
  controlLeaving(): void {
    this.#isBulk = false;
  }

  /** Queued bulk waits until the remote has answered more. */
  awaitAnswer(): void {
    this.#window?.awaitAnswer();
  }

  /**
   * Sends a ping whose pong shows that all earlier frames have arrived. Only a ping right behind bulk counts for the window. A receiver that
   * holds back the pongs of bulk may answer any other ping.
   */
  probe(): void {
    if (this.#isBulk && this.#window !== null) this.#window.probe();
    else this.transit.ping(ignore);
  }

  /** The stream sends nothing more. */
  release(stream: number): void {
    this.#window?.release(stream);
  }

  stop(): void {
    this.#window?.stop();
  }
}

function ignore(): void {
  // The pong itself counts, so this callback has nothing to do.
}
