import { describe, expect, it } from '@jest/globals';
import { defer, finalize, merge, of, share, switchMap, takeUntil } from 'rxjs';
import type { Observable } from 'rxjs';
import { reopenOnReconnect, retryWhenSafe, through, withCredit } from '../../src/index.js';
import type { OpenOptions } from '../../src/index.js';
import { counting } from '../support/peer/counting.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { ENDINGS } from './endings.js';
import { joined, LONGEST_WATCH_MS, surplus } from './scene.js';
import type { Scene } from './scene.js';

const time = virtualPeerTime();
const counts = counting(time);
collectLogs();

/** One way to subscribe to a call of another peer. */
interface Way {
  readonly what: string;
  readonly subscribe: (scene: Scene) => Observable<unknown>;
  /** Whether the call needs only one value; its stream lives on until its own end. */
  readonly settles?: true;
}

const options = ({ abort }: Scene): OpenOptions<unknown, never> => ({ signal: abort.signal, timeoutMs: 60_000, headers: { a: 1 } });

const WAYS: readonly Way[] = [
  { what: 'request$', settles: true, subscribe: ({ asking }) => asking.request$('p') },
  {
    what: 'request$ with a signal, a time-out and headers',
    settles: true,
    subscribe: (scene) => scene.asking.request$('p', options(scene)),
  },
  { what: 'request$ with retry', settles: true, subscribe: ({ asking }) => asking.request$('p', { retry: 'safe' }) },
  { what: 'request$ with retryWhenSafe', settles: true, subscribe: ({ asking }) => asking.request$('p').pipe(retryWhenSafe()) },
  {
    what: 'request',
    settles: true,
    subscribe: ({ asking, abort }) => defer(() => asking.request('p', { signal: abort.signal })).pipe(finalize(() => abort.abort())),
  },
  { what: 'open$', subscribe: ({ asking }) => asking.open$('p') },
  { what: 'open$ with a signal, a time-out and headers', subscribe: (scene) => scene.asking.open$('p', options(scene)) },
  { what: 'open$ with retry', subscribe: ({ asking }) => asking.open$('p', { retry: 'safe' }) },
  { what: 'open$ with an input', subscribe: ({ asking, input$ }) => asking.open$('p', { input: input$ }) },
  {
    what: 'open$ with observers of its reply headers, end and signal',
    subscribe: ({ asking }) =>
      asking.open$('p', {
        onOpen(stream) {
          stream.replyHeaders$.subscribe();
          void stream.closed;
          stream.signal.addEventListener('abort', () => undefined);
        },
      }),
  },
  { what: 'open$, shared', subscribe: ({ asking }) => asking.open$('p').pipe(share()) },
  { what: 'open$ in switchMap', subscribe: ({ asking }) => of(1, 2).pipe(switchMap(() => asking.open$('p'))) },
  { what: 'open', subscribe: ({ asking }) => defer(() => asking.open('p', { end: true })) },
  {
    what: 'open with two subscribers',
    subscribe: ({ asking }) =>
      defer(() => {
        const stream = asking.open('p', { end: true });
        return merge(stream, stream);
      }),
  },
  { what: 'through', subscribe: ({ asking, input$ }) => input$.pipe(through(asking, 'p')) },
  {
    what: 'reopenOnReconnect',
    subscribe: ({ asking }) => reopenOnReconnect(asking, { initial: 0, open: () => asking.open$('p'), cursor: () => 1 }),
  },
  {
    what: 'withCredit at the consumer',
    subscribe: ({ asking, finished }) =>
      withCredit(4).grant(
        (credit$) => asking.open$('p', { input: credit$.pipe(takeUntil(finished)) }),
        (item) => of(item),
      ),
  },
];

describe.each(WAYS)('$what', ({ what, subscribe, settles }) => {
  it.each(ENDINGS)(`The call '${what}' holds nothing on either side when it $how`, async ({ piped, atOnce, end, connection, silent }) => {
    const empty = counts.held();
    const scene = joined(counts);
    await time.advance();
    const before = connection === true ? empty : counts.held();
    let ended = false;
    const given$ = subscribe(scene);
    const subscription = (piped === undefined ? given$ : given$.pipe(piped)).subscribe({
      error: () => (ended = true),
      complete: () => (ended = true),
    });
    if (atOnce === true) subscription.unsubscribe();
    else {
      await time.advance();
      expect(surplus(before, counts.held())).toHaveProperty('streams');
    }
    end(scene, () => subscription.unsubscribe(), time);
    await time.advance();
    // The other side needed only one value, and ends with its answer.
    if (settles === true) scene.answer$.complete();
    await time.advance(connection === true ? 0 : LONGEST_WATCH_MS);
    expect(ended).toBe(silent !== true);
    expect(surplus(before, counts.held())).toEqual({});
  });
});
