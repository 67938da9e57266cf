import type { Message } from '../../wire/codec.js';
import type { Frame, FrameDirection } from '../../wire/frame.js';
import type { SplitMessage } from '../../wire/split-message.js';

/** Sees the frames of connections. */
export interface FrameObserver {
  /** The connection of this number is about to encode a frame, or has decoded it from a message of `bytes`. */
  observed(connection: number, direction: FrameDirection, frame: Frame, bytes: number): void;
  /** Sees the size of sent frames; `null` if no code watches it. */
  readonly sized: {
    /** The connection has encoded a frame, and is about to write its message. */
    encoded(connection: number, frame: Frame, message: Message | SplitMessage): void;
  } | null;
}
