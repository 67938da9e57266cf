import { virtualTime } from '../../src/testing.js';

/** A kind of time that a test can run in. */
export interface Clock {
  readonly kind: 'virtual' | 'real';
  /** What `outcome` resolves to, or how it rejects, once the time that it needs has passed. */
  until<T>(outcome: Promise<T>): Promise<T>;
  stop(): void;
}

/** Longer than anything that a test waits for, in ms of virtual time. */
const LONG_MS = 60_000;

/** Virtual time, and real time, in which a test has to stay short. */
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
