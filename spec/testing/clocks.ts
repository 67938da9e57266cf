import { virtualTime } from '../../src/testing.js';

/** Virtual or real time for a test. */
export interface Clock {
  readonly kind: 'virtual' | 'real';
  /** Waits until `outcome` settles; virtual time is advanced for it. */
  until<T>(outcome: Promise<T>): Promise<T>;
  stop(): void;
}

/** Longer than any wait of a test, in ms of virtual time. */
const LONG_MS = 60_000;

/** Virtual time, and real time. A test in real time has to be short. */
export const CLOCKS: readonly { readonly kind: Clock['kind']; readonly start: () => Clock }[] = [
  {
    kind: 'virtual',
    start: () => {
      const time = virtualTime();
      return {
        kind: 'virtual',
        async until(outcome) {
          outcome.catch(() => undefined);
          await time.advance(LONG_MS);
          return outcome;
        },
        stop() {
          time.restore();
        },
      };
    },
  },
  { kind: 'real', start: () => ({ kind: 'real', until: (outcome) => outcome, stop: () => undefined }) },
];
