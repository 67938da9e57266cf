import type { Frame } from '../../wire/frame.js';
import type { Backlog } from './backlog.js';
import { BULK_FRAME_BYTES, BulkWindow } from '../../connection/bulk-window.js';
import type { SendPing } from '../../connection/bulk-window.js';

/** Knows which leaving frames are bulk, and paces them by a window. Bulk means slices, large frames, and the many small values of one source. */
export class Bulk {
  /** Paces bulk. Made for the first frame of it. */
  window: BulkWindow | null = null;
  /** Whether the last frame that left was a slice or a large frame. */
  isLast = false;
  /** The stream of the last frame that left, if more may follow; otherwise 0. */
  #lastStream = 0;

  constructor(
    private readonly ping: SendPing,
    /** Called once bulk may go on. */
    private readonly opened: () => void,
    private readonly backlog: Backlog,
  ) {}

  /** Returns whether a stream has sent bulk, and its next frame has to wait for more answers. */
  holds(stream: number): boolean {
    return this.window?.holds(stream) === true;
  }

  /** A frame or slice is about to leave. A ping that it needs follows it. */
  leaving({ stream, type, fragment, end, more }: Frame, bytes: number): void {
    this.isLast = bytes >= BULK_FRAME_BYTES || fragment != null;
    this.#lastStream = end === true ? 0 : (stream ?? 0);
    if (typeof stream !== 'number') return;
    if (this.isLast) this.#pacing().sent(stream, bytes);
    else this.window?.passed(stream);
    // A reset may leave after its stream was released.
    if (type === 'reset' && more !== true) this.window?.release(stream);
  }

  /**
   * Returns the window that waits for the answer to a ping behind the last frame, or `null` if the window paces no such frame. `bytes` have
   * left since the ping before.
   */
  windowOfLast(bytes: number): BulkWindow | null {
    if (this.isLast) return this.window;
    if (!this.#hasMoreValues()) return null;
    const window = this.#pacing();
    window.sent(this.#lastStream, bytes);
    return window;
  }

  /** Whether the stream of the last frame was pulled for it, or many values wait behind it. */
  #hasMoreValues(): boolean {
    const { pulls, queues } = this.backlog;
    return pulls?.pulled === this.#lastStream || Number(queues.get(this.#lastStream)?.bytes) >= BULK_FRAME_BYTES;
  }

  #pacing(): BulkWindow {
    return (this.window ??= new BulkWindow(this.ping, this.opened, this.backlog));
  }
}
