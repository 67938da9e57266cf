import { JsonCodec } from '../../src/codec/json.js';
import type { Frame } from '../../src/wire/frame.js';

/** A codec that fails, once, to write the next open or data when it is told to. */
export class BreakableCodec extends JsonCodec {
  breaks = false;

  override encodeWith(frame: Frame, encodedPayload: string): string {
    this.#check(frame);
    return super.encodeWith(frame, encodedPayload);
  }

  override encode(frame: Frame): string {
    if (frame.fragment != null && frame.fragment !== '') this.#check(frame);
    return super.encode(frame);
  }

  #check({ type }: Frame): void {
    if (!this.breaks || (type !== 'open' && type !== 'data')) return;
    this.breaks = false;
    throw new TypeError('broken');
  }
}
