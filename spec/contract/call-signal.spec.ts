import { describe, expect, it } from '@jest/globals';
import { NEVER, Subject, map, mergeMap, of, take, timer, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { answering, channel, client, contract, request, stream, upload } from '../../src/contract.js';
import type { Call, Client } from '../../src/contract.js';
import { connect, serve } from '../../src/node.js';
import { createPair } from '../../src/testing.js';
import type { Pair } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';

const api = contract({
  ask: request<string, number>(),
  watch: stream<string, number>(),
  store: upload<string, number, number>(),
  talk: channel<string, number, number>(),
});
type Kind = keyof typeof api;
const KINDS: readonly Kind[] = ['ask', 'watch', 'store', 'talk'];

/** The calls whose signal an answer has read, in their order. */
type Seen = Call[];

/** Answers 1 after 100 ms, and never a payload `'never'`. */
function slowAnswers(seen: Seen) {
  const slow = (payload: string, call: Call): Observable<number> => {
    seen.push(call);
    return payload === 'never' ? NEVER : timer(100).pipe(map(() => 1));
  };
  return {
    ask: slow,
    watch: slow,
    store: (payload: string, call: Call<number>) =>
      call.input.pipe(
        toArray(),
        mergeMap(() => slow(payload, call)),
      ),
    talk: (payload: string, call: Call<number>) =>
      call.input.pipe(
        toArray(),
        mergeMap(() => slow(payload, call)),
      ),
  };
}

function callOf(calls: Client<typeof api>, kind: Kind, payload: string, options: { readonly timeoutMs?: number } = {}): Observable<number> {
  switch (kind) {
    case 'store':
    case 'talk':
      return calls[kind](payload, [1, 2], options);
    default:
      return calls[kind](payload, options);
  }
}

describe('Signal of a call', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  function pairOf() {
    const seen: Seen = [];
    const pair = createPair(api, slowAnswers(seen));
    return { ...pair, seen };
  }

  const reasonOf = ([call]: Seen): unknown => call?.signal.reason;
  const abort = (message: string, cause?: object): object =>
    expect.objectContaining({ name: 'AbortError', message, ...(cause === undefined ? {} : { cause: expect.objectContaining(cause) }) });

  it.each(KINDS)('The signal never aborts after a whole answer: %s', async (kind) => {
    const { calls, seen, dialer, acceptor } = pairOf();
    const got: number[] = [];
    callOf(calls, kind, 'soon').subscribe((value) => got.push(value));
    await time.advance(50);
    // Read while the call runs, and once more below, after its end.
    const early = seen[0]?.signal;
    await time.advance(60_000);
    expect([got, early?.aborted, seen[0]?.signal === early]).toEqual([[1], false, true]);
    void dialer.close();
    void acceptor.close();
    await time.advance(60_000);
    expect([early?.aborted, logs.errors]).toEqual([false, []]);
  });

  it.each(KINDS)('A signal that is first read after a whole answer has not aborted: %s', async (kind) => {
    const { calls, seen } = pairOf();
    callOf(calls, kind, 'soon').subscribe();
    await time.advance(60_000);
    expect(seen[0]?.signal.aborted).toBe(false);
  });

  const endings: readonly (readonly [string, (pair: Pair, leave: () => void) => void, object])[] = [
    ['the caller unsubscribes', (_, leave) => leave(), abort('the caller left: unsubscribed', { code: 'RESET', resetCode: 8 })],
    ['the line is cut', ({ link }) => link.cut(), abort('the connection to the caller was lost (1006)', { code: 'CONNECTION_LOST' })],
    ['the caller closes', ({ dialer }) => void dialer.close(), abort('the caller left: the connection is closing')],
    [
      'the answering side closes',
      ({ acceptor }) => void acceptor.close(),
      abort('this side ended the call (CANCEL): the connection is closing', { code: 'CANCELLED' }),
    ],
  ];

  it.each(endings.flatMap((ending) => KINDS.map((kind) => [ending[0], kind, ending] as const)))(
    'The signal aborts with who ended the call when %s: %s',
    async (_how, kind, [, end, reason]) => {
      const { calls, seen, ...pair } = pairOf();
      const call = callOf(calls, kind, 'never').subscribe({ error: () => undefined });
      await time.advance(50);
      const aborts: unknown[] = [];
      seen[0]?.signal.addEventListener('abort', ({ type }) => aborts.push(type));
      expect(seen[0]?.signal.aborted).toBe(false);
      end(pair, () => {
        call.unsubscribe();
      });
      await time.advance(60_000);
      expect(reasonOf(seen)).toEqual(reason);
      expect([aborts, logs.errors]).toEqual([['abort'], []]);
    },
  );

  it.each(KINDS)('The signal aborts when the caller’s time is up: %s', async (kind) => {
    const { calls, seen } = pairOf();
    callOf(calls, kind, 'never', { timeoutMs: 300 }).subscribe({ error: () => undefined });
    await time.advance(299);
    expect(seen[0]?.signal.aborted).toBe(false);
    await time.advance(1);
    expect(reasonOf(seen)).toEqual(abort("the caller's time is up: not done within 300 ms"));
  });

  it('The signal aborts when the caller has taken enough values of a stream', async () => {
    const seen: Seen = [];
    const values$ = new Subject<number>();
    const { calls } = createPair(contract({ watch: stream<void, number>() }), {
      watch: (_, call) => (seen.push(call), call.signal, values$),
    });
    calls.watch().pipe(take(1)).subscribe();
    await time.advance(10);
    values$.next(1);
    await time.advance(10);
    expect(reasonOf(seen)).toEqual(abort('the caller left: unsubscribed'));
  });

  it('The signal does not abort when an answer comes before the end of its upload', async () => {
    const seen: Seen = [];
    const { calls } = createPair(contract({ store: upload<void, number, string>() }), {
      store: (_, call) => (seen.push(call), call.signal, 'full'),
    });
    const got: string[] = [];
    calls.store(undefined, NEVER).subscribe((reply) => got.push(reply));
    await time.advance(60_000);
    expect([got, seen[0]?.signal.aborted]).toEqual([['full'], false]);
  });

  it('An answer that throws the reason of its signal leaves no line in the log', async () => {
    const { calls } = createPair(contract({ ask: request<void, number>() }), {
      ask: (_, { signal }) =>
        new Promise<number>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    });
    const call = calls.ask().subscribe();
    await time.advance(10);
    call.unsubscribe();
    await time.advance(10);
    expect([logs.errors, logs.warnings]).toEqual([[], []]);
  });
});

describe('Signal of a call over a real socket', () => {
  it('The signal of a stored upload never aborts, and the signal of a cancelled upload does', async () => {
    const seen: Seen = [];
    const server = serve({
      port: 0,
      ...answering(contract({ store: upload<string, number, number>() }), {
        store: async (_, call) => {
          seen.push(call);
          expect(call.signal.aborted).toBe(false);
          let count = 0;
          for await (const item of call.input) count += item > 0 ? 1 : 0;
          return count;
        },
      }),
    });
    const { port } = (await server.listening) as { port: number };
    const peer = connect(`ws://127.0.0.1:${port}`);
    const calls = client(peer, contract({ store: upload<string, number, number>() }));
    expect(await calls.store.promise('a', of(1, 2, 3))).toBe(3);
    const left = new Promise((resolve) => {
      const call = calls.store('b', NEVER).subscribe();
      const second = setInterval(() => {
        const [, later] = seen;
        if (later === undefined) return;
        clearInterval(second);
        later.signal.addEventListener('abort', () => resolve(later.signal.reason));
        call.unsubscribe();
      }, 1);
    });
    expect(await left).toMatchObject({ name: 'AbortError', message: 'the caller left: unsubscribed' });
    await Promise.all([peer.close(), server.close()]);
    expect(seen[0]?.signal.aborted).toBe(false);
  });
});
