/** A stored message, as far as its cursor depends on it. */
export interface Stored {
  readonly seq: number;
  readonly time: Date;
}

/** Begins each random id, of which no other message has the same. */
export const OWN_ID = 'rxmux-';

/**
 * Returns the cursor of a message: its sequence, and a fingerprint. A stream that was made again, or restored from a copy, has other
 * messages at the same sequences. They may have the same keys, so only a random id counts, and else the time.
 */
export function cursorOf({ seq, time }: Stored, id: string | undefined): string {
  return cursorBy(seq, id?.startsWith(OWN_ID) === true ? id : String(time.getTime()));
}

export function cursorBy(seq: number, id: string): string {
  return `${seq}:${fingerprint(id)}`;
}

/** The sequence in a cursor; NaN for any other value. */
export function sequenceOf(cursor: unknown): number {
  return typeof cursor === 'string' ? Number(/^(\d{1,15}):[a-z0-9]+$/.exec(cursor)?.[1]) : NaN;
}

/** A short name for a text: FNV-1a of 32 bits. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(36);
}
