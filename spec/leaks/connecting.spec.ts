import { describe, expect, it } from '@jest/globals';
import { take } from 'rxjs';
import type { Observable } from 'rxjs';
import { reopenOnReconnect, ResetCode } from '../../src/index.js';
import type { ConnectOptions } from '../../src/index.js';
import { counting } from '../support/peer/counting.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { dialed, LONGEST_WATCH_MS, surplus } from './scene.js';
import type { Scene } from './scene.js';

const time = virtualPeerTime();
const counts = counting(time);
collectLogs();

/** A call that is made without a connection, or that outlives one. */
interface Way {
  readonly what: string;
  readonly subscribe: (scene: Scene) => Observable<unknown>;
}

const WAYS: readonly Way[] = [
  { what: 'request$', subscribe: ({ asking, abort }) => asking.request$('p', { signal: abort.signal }) },
  { what: 'request$ with retry', subscribe: ({ asking, abort }) => asking.request$('p', { signal: abort.signal, retry: 'safe' }) },
  { what: 'open$', subscribe: ({ asking, abort }) => asking.open$('p', { signal: abort.signal, timeoutMs: 20_000 }) },
  { what: 'open$ with an input', subscribe: ({ asking, abort, input$ }) => asking.open$('p', { signal: abort.signal, input: input$ }) },
  {
    what: 'reopenOnReconnect',
    subscribe: ({ asking, abort }) =>
      reopenOnReconnect(asking, { initial: 0, open: () => asking.open$('p', { signal: abort.signal }), cursor: () => 1 }),
  },
];

interface Ending {
  readonly how: string;
  readonly end: (scene: Scene, unsubscribe: () => void) => void;
  /** The time before it, in ms. */
  readonly after?: number;
  readonly options?: ConnectOptions;
}

const ENDINGS: readonly Ending[] = [
  { how: 'unsubscribed at once', end: (_, unsubscribe) => unsubscribe() },
  { how: 'unsubscribed between two dials', after: 10, end: (_, unsubscribe) => unsubscribe() },
  { how: 'aborted', after: 10, end: ({ abort }) => abort.abort() },
  { how: 'failed, as its peer is closed', after: 10, end: ({ asking }) => void asking.close() },
  { how: 'failed, as there are no more dials', options: { reconnect: { maxAttempts: 2 } }, end: () => undefined },
  { how: 'failed, as there is only one dial', options: { reconnect: false }, end: () => undefined },
];

describe.each(WAYS)('$what without a connection', ({ what, subscribe }) => {
  it.each(ENDINGS)(`The call '${what}' without a connection holds nothing when it is $how`, async ({ end, after, options }) => {
    const empty = counts.held();
    const scene = dialed(counts, { reconnect: true, ...options }, true);
    const subscription = subscribe(scene).subscribe({ error: () => undefined });
    expect(surplus(empty, counts.held())).toHaveProperty('waiting');
    if (after !== undefined) await time.advance(after);
    end(scene, () => subscription.unsubscribe());
    await time.advance(LONGEST_WATCH_MS);
    expect(counts.held().waiting).toBe(0);
    void scene.asking.close();
    await time.advance();
    // The server of the scene lives on. The error listener of each ended socket stays on the socket.
    expect(surplus(empty, { ...counts.held(), listeners: 0 })).toEqual({ subscriptions: 1 });
  });
});

/** Events that end a connection and start the reconnect helper. */
const BEFALLS: readonly { readonly what: string; readonly befall: (scene: Scene) => void }[] = [
  { what: 'a lost socket', befall: ({ link }) => link().cut() },
  { what: 'a goaway', befall: ({ asked }) => void asked().close({ drainMs: 1_000 }) },
  { what: 'a goaway with an error', befall: ({ asked }) => void asked().close({ code: ResetCode.INTERNAL_ERROR }) },
];

describe.each(BEFALLS)('after $what', ({ what: event, befall }) => {
  it.each(WAYS)(`After ${event} the call '$what' leaves no more on the new connection than on the first`, async ({ subscribe }) => {
    const empty = counts.held();
    const scene = dialed(counts, { reconnect: { minDelayMs: 1, maxDelayMs: 1 } });
    // A timer runs until the socket counts as stable.
    await time.advance(LONGEST_WATCH_MS);
    const idle = counts.held();
    const subscription = subscribe(scene).subscribe({ error: () => undefined });
    await time.advance();
    befall(scene);
    await time.advance(5_000);
    subscription.unsubscribe();
    scene.abort.abort();
    await time.advance(LONGEST_WATCH_MS);
    expect(scene.asking.status).toEqual({ state: 'open', reconnects: 1 });
    // The error listener stays on the ended socket.
    expect(surplus(idle, counts.held())).toEqual({ listeners: 1 });
    void scene.asking.close();
    await time.advance();
    expect(surplus(empty, { ...counts.held(), listeners: 0 })).toEqual({ subscriptions: 1 });
  });
});

describe.each([0, 1_000, LONGEST_WATCH_MS])('a dial, %d ms later,', (after) => {
  it.each<[string, ConnectOptions, boolean]>([
    ['is refused', { reconnect: false }, true],
    ['is refused again and again', { reconnect: { maxAttempts: 3 } }, true],
    ['has its hello refused', { hello: () => ({ payload: 'me' }), helloTimeoutMs: 100 }, false],
    [
      'has a hello that throws',
      {
        hello: () => {
          throw new Error('no hello');
        },
      },
      false,
    ],
    ['opens', {}, false],
    ['is never requested', { lazy: true }, false],
  ])(
    `A dial that %s leaves a closed peer with only the error listeners on its sockets ${after} ms later`,
    async (_what, options, refused) => {
      const empty = counts.held();
      const scene = dialed(counts, options, refused);
      const states: string[] = [];
      scene.asking.status$.pipe(take(10)).subscribe(({ state }) => states.push(state));
      await time.advance(after);
      void scene.asking.close();
      await time.advance();
      expect(states.at(-1)).toBe('closed');
      const sockets = options.lazy === true ? 0 : states.filter((state) => state === 'connecting').length;
      expect(surplus(empty, counts.held())).toEqual({ subscriptions: 1, ...(sockets === 0 ? {} : { listeners: sockets }) });
    },
  );
});
