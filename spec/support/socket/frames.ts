import type { Buffer } from 'node:buffer';
import { Header, viewOf } from '../../../src/transport/ws/websocket-frame.js';

/** One WebSocket frame without a mask. */
export interface FrameBytes {
  /** The whole frame. */
  readonly bytes: Buffer;
  /** The bytes behind its header. */
  readonly content: Buffer;
}

/** Cuts bytes into WebSocket frames (RFC 6455 §5.2). Leaves out a last frame that is not whole. */
export function framesIn(bytes: Buffer): readonly FrameBytes[] {
  const view = viewOf(bytes);
  const header = new Header();
  const frames: FrameBytes[] = [];
  for (let at = 0; at < bytes.length;) {
    if (!header.read(view, at) || header.end > bytes.length) break;
    frames.push({ bytes: bytes.subarray(at, header.end), content: bytes.subarray(header.content, header.end) });
    at = header.end;
  }
  return frames;
}
