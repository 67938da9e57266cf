import { tap, take } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { PeerTime } from '../support/peer/time.js';
import { ResetCode } from '../../src/index.js';
import type { Scene } from './scene.js';

/** One way in which a subscription ends. */
export interface Ending {
  readonly how: string;
  /** An operator after the subscribed Observable. */
  readonly piped?: MonoTypeOperatorFunction<unknown>;
  /** Unsubscribes before any event. */
  readonly atOnce?: true;
  /** The time before the end, in ms. Default: an instant. */
  readonly afterMs?: number;
  readonly end: (scene: Scene, unsubscribe: () => void, time: PeerTime) => void;
  /** Whether the connection ends too, with all of its streams. */
  readonly connection?: true;
  /** Whether the consumer ends the subscription, so that it receives no notification. */
  readonly silent?: true;
}

const failing: MonoTypeOperatorFunction<unknown> = tap(() => {
  throw new Error('a callback');
});

/** The ways in which an Observable of a call can end. */
export const ENDINGS: readonly Ending[] = [
  {
    how: 'completes',
    afterMs: 100,
    end({ answer$, finish }) {
      answer$.next('value');
      answer$.complete();
      finish();
    },
  },
  {
    how: 'completes without a value',
    afterMs: 100,
    end({ answer$, finish }) {
      answer$.complete();
      finish();
    },
  },
  {
    how: 'errors at the other side',
    end({ answer$ }) {
      answer$.error(new Error('the answer'));
    },
  },
  {
    how: 'is unsubscribed early',
    silent: true,
    end(_, unsubscribe) {
      unsubscribe();
    },
  },
  {
    how: 'is unsubscribed before the open has left',
    atOnce: true,
    silent: true,
    end() {
      // The connection is already closed.
    },
  },
  ...[ResetCode.CANCEL, ResetCode.INTERNAL_ERROR, 300].map((code) => ({
    how: `is reset with ${code}`,
    end({ remote }: Scene) {
      remote().reset(code, 'the remote');
    },
  })),
  {
    how: 'loses its connection',
    connection: true,
    end({ link }) {
      link().cut();
    },
  },
  {
    how: 'has its peer closed',
    connection: true,
    end({ asking }) {
      void asking.close();
    },
  },
  {
    how: 'has the other peer closed',
    connection: true,
    end({ asked }) {
      void asked().close();
    },
  },
  {
    how: 'has the other peer closed with a drain',
    connection: true,
    end({ asked, answer$, finish }) {
      void asked().close({ drainMs: 1_000 });
      answer$.next('value');
      answer$.complete();
      finish();
    },
  },
  {
    how: 'is enough after one value',
    piped: take(1),
    end({ answer$ }) {
      answer$.next('value');
      answer$.next('another');
    },
  },
  {
    how: 'meets a callback that throws',
    piped: failing,
    end({ answer$ }) {
      answer$.next('value');
    },
  },
];
