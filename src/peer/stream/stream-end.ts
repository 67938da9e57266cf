import { guard } from '../../rx/guard.js';

/** How what is received ends. */
export interface End {
  /** `null` where the stream simply ended. */
  readonly error: unknown;
}

/** The end without an error. */
export const COMPLETED: End = { error: null };

/** The end by an error, made when somebody looks: most are seen by nobody, and one with its stack costs more than the rest of a stream's end. */
export class ErrorEnd implements End {
  constructor(private readonly stream: { readonly error: unknown }) {}

  get error(): unknown {
    return this.stream.error;
  }
}

/** Tells a reader how it ends. rxjs throws what the reader's teardown throws at whoever ends it; others have still to be told. */
export function deliverEnd(reader: { error(error: unknown): void; complete(): void }, { error }: End): void {
  guard('a subscriber of a stream', () => {
    if (error === null) reader.complete();
    else reader.error(error);
  });
}
