import { guard } from '../../rx/guard.js';

/** The end of a stream's received payloads. */
export interface End {
  /** `null` if the stream ended without an error. */
  readonly error: unknown;
}

/** The end without an error. */
export const COMPLETED: End = { error: null };

/** Delivers the end to a reader. rxjs throws a teardown's error at this caller, so guard it: other readers still need their end. */
export function deliverEnd(reader: { error(error: unknown): void; complete(): void }, { error }: End): void {
  guard('a subscriber of a stream', () => {
    if (error === null) reader.complete();
    else reader.error(error);
  });
}
