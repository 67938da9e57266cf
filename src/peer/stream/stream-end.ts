import { guard } from '../../rx/guard.js';

/** The end of a stream's received payloads. */
export interface End {
  /** `null` if the stream ended without an error. */
  readonly error: unknown;
}

/** The end without an error. */
export const COMPLETED: End = { error: null };

/** An end by an error, which is created only on access. Most errors stay unread, and one stack costs more than the rest of a stream's end. */
export class ErrorEnd implements End {
  constructor(private readonly stream: { readonly error: unknown }) {}

  get error(): unknown {
    return this.stream.error;
  }
}

/** Delivers the end to a reader. rxjs throws a teardown's error at this caller, so guard it: other readers still need their end. */
export function deliverEnd(reader: { error(error: unknown): void; complete(): void }, { error }: End): void {
  guard('a subscriber of a stream', () => {
    if (error === null) reader.complete();
    else reader.error(error);
  });
}
