import { randomFillSync } from 'node:crypto';

/** Unused masking keys, made in bulk: making each key by itself would cost more than masking with it. */
const KEYS = new Int32Array(1024);
let keysLeft = 0;

/** Returns an unpredictable key for the mask of one frame (RFC 6455 §5.3). */
export function newMaskingKey(): number {
  if (keysLeft === 0) {
    randomFillSync(KEYS);
    keysLeft = KEYS.length;
  }
  return KEYS[--keysLeft] ?? 0;
}
