import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, merge, NEVER, take, timer } from 'rxjs';
import type { StreamHandler } from '../../src/index.js';
import { JsonCodec } from '../../src/codec/json.js';
import { HostilePeer } from '../support/hostile/peer.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

const COUNT = 10_000;
/** The number of calls that run at once. */
const AT_ONCE = 100;
/** The time that a handler takes, in ms. Each round waits twice as long. */
const WORK_MS = 10;

const ignore = { error: () => undefined };

/** A call or stream that is begun {@link COUNT} times and abandoned. */
interface Abandoned {
  readonly what: string;
  readonly onStream?: StreamHandler;
  /** Begins the call on the peer, whose next stream has this id. */
  readonly begin: (remote: HostilePeer, id: number) => unknown;
  /** The answer of the remote, one turn later. */
  readonly answer?: (remote: HostilePeer, id: number) => void;
  /** How often `return` of an input is called. Default never. */
  readonly returns?: number;
}

const sendsTwo = (remote: HostilePeer, id: number): void => {
  remote.send({ type: 'data', stream: id, payload: 'one' }, { type: 'data', stream: id, payload: 'two' });
};
const ends = (remote: HostilePeer, id: number): void => {
  remote.send({ type: 'data', stream: id, payload: 'one', end: true });
};
const resets = (remote: HostilePeer, id: number): void => {
  remote.send({ type: 'reset', stream: id, code: 300 });
};
/** The remote opens a stream, and sends on it. Its ids are one below the ids of the peer. */
const uploads = (remote: HostilePeer, id: number): void => {
  remote.send({ type: 'open', stream: id - 1, payload: 'p' });
  sendsTwo(remote, id - 1);
};

/** How often `return` of a {@link silent} iterable was called. */
let returned = 0;
const silent: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({
    next: () => new Promise(() => undefined),
    return: () => {
      returned++;
      return Promise.resolve({ done: true, value: undefined });
    },
  }),
};

const shared = new AbortController();

const ABANDONED: readonly Abandoned[] = [
  {
    what: 'a loop that breaks',
    begin: async ({ peer }) => {
      for await (const value of peer.open('p')) if (value === 'one') break;
    },
    answer: sendsTwo,
  },
  {
    what: 'a loop that throws',
    begin: async ({ peer }) => {
      try {
        for await (const value of peer.open('p')) throw new Error(String(value));
      } catch {
        // The loop is meant to throw.
      }
    },
    answer: sendsTwo,
  },
  { what: 'an iterator that is returned before it begins', begin: ({ peer }) => peer.open('p')[Symbol.asyncIterator]().return?.() },
  {
    what: 'an iterator that is read up to its end only',
    begin: ({ peer }) => peer.open('p', { end: true })[Symbol.asyncIterator]().next(),
    answer: ends,
  },
  {
    what: 'a subscription that is dropped at once',
    begin: ({ peer }) => peer.open$('p').subscribe(ignore).unsubscribe(),
    answer: sendsTwo,
  },
  { what: 'a subscription that takes one value', begin: ({ peer }) => peer.open$('p').pipe(take(1)).subscribe(ignore), answer: sendsTwo },
  { what: 'a request whose promise is ignored', begin: ({ peer }) => void peer.request('p'), answer: ends },
  { what: 'a request that is unsubscribed', begin: ({ peer }) => peer.request$('p').subscribe(ignore).unsubscribe() },
  {
    what: 'a request whose stream has many observers',
    begin: ({ peer }) =>
      peer.request('p', {
        onOpen: (stream) => {
          void stream.closed;
          stream.replyHeaders$.subscribe();
          stream.signal.addEventListener('abort', () => undefined);
        },
      }),
    answer: ends,
  },
  { what: 'an unread stream that ends', begin: ({ peer }) => peer.open('p', { end: true }), answer: ends },
  { what: 'an unread stream that is reset', begin: ({ peer }) => peer.open('p'), answer: resets },
  { what: 'a notification', begin: ({ peer }) => peer.notify('p'), answer: sendsTwo },
  {
    what: 'an ignored promise of a value on a reset stream',
    begin: ({ peer }) => {
      const stream = peer.open('p');
      void stream.closed.then(() => {
        void stream.send('late');
      });
    },
    answer: resets,
  },
  {
    what: 'a call with a signal that never aborts',
    begin: ({ peer }) => void peer.request('p', { signal: shared.signal, timeoutMs: 1_000 }),
    answer: ends,
  },
  {
    what: 'an endless input of a call that is unsubscribed',
    begin: ({ peer }) => peer.open$('p', { input: NEVER }).subscribe(ignore).unsubscribe(),
  },
  {
    what: 'a silent async iterable as the input of a reset call',
    begin: ({ peer }) => peer.open$('p', { input: silent }).subscribe(ignore),
    answer: resets,
    returns: COUNT,
  },
  {
    what: 'a silent async iterable sent on a reset stream',
    begin: ({ peer }) => void peer.open('p').sendAll(silent),
    answer: resets,
    returns: COUNT,
  },
  {
    what: 'a subscription to the peer',
    begin: ({ peer }) => merge(peer.frames$, peer.closes$, peer.status$, peer.streams$).subscribe().unsubscribe(),
  },
  {
    what: 'a hook that is removed',
    begin: ({ peer }) => {
      const fail = (): never => {
        throw new Error('expected to be removed');
      };
      for (const remove of [peer.onFrame(fail), peer.onClose(fail), peer.interceptOpen(fail), peer.interceptIncomingHeaders(fail)])
        remove();
    },
  },
  {
    what: 'a handler that breaks out of its loop',
    onStream: async (_, stream) => {
      for await (const value of stream) if (value === 'one') break;
    },
    begin: uploads,
  },
  { what: 'a handler that reads nothing', onStream: () => undefined, begin: uploads },
  {
    what: 'a handler that reads nothing and runs on after a reset',
    onStream: () => firstValueFrom(timer(WORK_MS)),
    begin: (remote, id) => {
      uploads(remote, id);
      resets(remote, id - 1);
    },
  },
  {
    what: 'a handler that stops reading',
    onStream: (_, stream) => {
      stream.subscribe(ignore).unsubscribe();
    },
    begin: uploads,
  },
  {
    what: 'a handler that ignores its promises',
    onStream: (_, stream) => {
      void stream.send('answer');
      stream.reset(300, 'enough');
      void stream.send('late');
      void stream.reply('later');
      void stream.end();
    },
    begin: uploads,
  },
];

describe(`${COUNT} times`, () => {
  it.each(ABANDONED)(
    'The peer keeps nothing of $what',
    async ({ begin, answer, onStream, returns = 0 }) => {
      returned = 0;
      const remote = new HostilePeer(new JsonCodec(), 'acceptor', { onStream, reads: false });
      await time.advance();
      const before = remote.kept;
      for (let n = 0; n < COUNT; n += AT_ONCE) {
        const ids = Array.from({ length: AT_ONCE }, (_, index) => 4 + 2 * (n + index));
        for (const id of ids) void begin(remote, id);
        await time.advance();
        for (const id of ids) answer?.(remote, id);
        await time.advance(2 * WORK_MS);
      }
      expect(remote.kept).toEqual(before);
      expect([getEventListeners(shared.signal, 'abort'), returned]).toEqual([[], returns]);
      void remote.peer.close();
      remote.endSocket();
      await time.advance();
      expect([remote.kept, time.isOver(), logs.errors]).toEqual([{}, true, []]);
    },
    60_000,
  );
});
