import { guard } from '../../rx/guard.js';
import { HookList } from '../../rx/hook-list.js';
import { steadyNow } from '../../util/time.js';
import type { Message } from '../../wire/codec.js';
import type { Frame, FrameDirection } from '../../wire/frame.js';
import { encodedLength } from '../../wire/length.js';
import type { SplitMessage } from '../../wire/split-message.js';
import type { Remove } from '../hooks.js';

/** One frame on a socket. */
export interface SeenFrame {
  readonly direction: FrameDirection;
  readonly frame: Frame;
  /** The number of the socket. */
  readonly connection: number;
  /** The time on a clock that only moves forward, in ms. */
  readonly at: number;
  /** The length of the frame's message in bytes. */
  readonly bytes: number;
}

/** Observers of frames with their size. The size of a sent frame is known once the frame is encoded. */
export class SizedFrames {
  readonly #observers = new HookList<(seen: SeenFrame) => void>();

  /** Adds an observer. The frame is the peer's own: code of users gets a frozen copy of it. */
  add(observer: (seen: SeenFrame) => void): Remove {
    return this.#observers.add((seen) => {
      guard('a subscriber of frames$', () => {
        observer(seen);
      });
    });
  }

  encoded(connection: number, frame: Frame, message: Message | SplitMessage): void {
    this.#see(connection, 'tx', frame, typeof message === 'string' ? encodedLength(message) : message.byteLength);
  }

  received(connection: number, frame: Frame, bytes: number): void {
    this.#see(connection, 'rx', frame, bytes);
  }

  #see(connection: number, direction: FrameDirection, frame: Frame, bytes: number): void {
    for (const { hook } of this.#observers.entries) hook({ direction, frame, connection, at: steadyNow(), bytes });
  }
}

/** Returns the observers of a peer's frames, made on first use. */
export function sizedFramesOf(core: { sized: SizedFrames | null }): SizedFrames {
  return (core.sized ??= new SizedFrames());
}
