import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { finalize, firstValueFrom, from, lastValueFrom, NEVER, Observable, of, tap, timer } from 'rxjs';
import { WebSocketServer } from 'ws';
import { DeadlineExceededError, ResetCode } from '../../src/index.js';
import type { Input, Limits, Peer, StreamHandler } from '../../src/index.js';
import { connect, refuse, serve } from '../../src/node.js';
import type { MuxServer, NodeConnectOptions, UpgradeOptions, Verdict } from '../../src/node.js';
import { CODECS } from '../support/codec/shipped.js';
import { collectLogs } from '../support/peer/logs.js';
import { THENABLES } from '../support/peer/thenables.js';
import { handshake, portOf } from '../support/socket/handshake.js';
import { until } from '../support/socket/leaks.js';
import { testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

describe('async context', () => {
  const user = new AsyncLocalStorage<string>();
  const current = (): string => user.getStore() ?? 'nobody';

  const open: { readonly server: MuxServer; readonly peer: Peer }[] = [];

  afterEach(async () => {
    for (const { server, peer } of open.splice(0)) {
      await peer.close();
      await server.close();
    }
  });

  /** A server in the context `server`, and a peer in the context `app`, over a real socket. */
  async function pair(onStream: StreamHandler, options: NodeConnectOptions = {}, limits?: Partial<Limits>): Promise<Peer> {
    const { codec } = options;
    const server = user.run('server', () => serve({ port: 0, host: '127.0.0.1', onStream, codec, limits }));
    const { port } = await server.listening;
    const peer = user.run('app', () => connect(`ws://127.0.0.1:${port}`, options));
    open.push({ server, peer });
    return peer;
  }

  /** A handler that reads all values, and answers with their number. */
  const counting: StreamHandler = async (_payload, stream) => {
    let count = 0;
    for await (const value of stream) if (value !== undefined) count++;
    await stream.reply(count);
  };

  /** Together more than the queue of a stream and a socket hold, so that a call waits. */
  const VALUES = 25;
  const LARGE = 'x'.repeat(100_000);
  const SMALL = 'x'.repeat(10_000);
  /** A server with these limits pauses the socket before it has a whole window of the dialer. */
  const SMALL_LIMITS = { pauseBytes: 128 * 1024, maxUnreadBytes: 512 * 1024 };
  /** With so much unread it pauses the socket within the next few values. */
  const PAUSED_BYTES = 850_000;
  const larges = (): readonly string[] => Array.from({ length: VALUES }, () => LARGE);

  /** A value that notes the context in which it is encoded. */
  const noting = (seen: string[]): object => ({
    get large() {
      seen.push(current());
      return LARGE;
    },
  });

  describe.each(CODECS)('contexts of calls over one %s connection', (_name, codec) => {
    it.each<[string, (seen: string[]) => Input<unknown>]>([
      [
        'A generator runs',
        function* (seen) {
          for (let n = 0; n < VALUES; n++) {
            seen.push(current());
            yield LARGE;
          }
        },
      ],
      [
        'An async generator runs',
        async function* (seen) {
          for (let n = 0; n < VALUES; n++) {
            await Promise.resolve();
            seen.push(current());
            yield LARGE;
          }
        },
      ],
      ['Values are encoded', (seen) => Array.from({ length: VALUES }, () => noting(seen))],
    ])('%s in the context of its call, whichever call flushes the socket', async (_what, make) => {
      const peer = await pair(counting, { codec });
      await peer.opened;
      const seen: Record<string, string[]> = { ann: [], bob: [], cyd: [] };
      const uploads = Object.entries(seen).map(([name, contexts]) =>
        user.run(name, () => peer.open('up').sendAll(make(contexts) as Iterable<unknown>)),
      );
      await Promise.all(uploads);
      for (const [name, contexts] of Object.entries(seen)) {
        expect(contexts.length).toBeGreaterThanOrEqual(VALUES);
        expect([...new Set(contexts)]).toEqual([name]);
      }
    });

    it('A call continues in its own context after `send` has waited', async () => {
      const peer = await pair(counting, { codec });
      await peer.opened;
      const sending = async (): Promise<readonly string[]> => {
        const stream = peer.open('up');
        const seen: string[] = [];
        for (const value of larges()) {
          await stream.send(value);
          seen.push(current());
        }
        void stream.end();
        return [...new Set(seen)];
      };
      const all = await Promise.all(['ann', 'bob'].map((name) => user.run(name, sending)));
      expect(all).toEqual([['ann'], ['bob']]);
    });

    it('An input ends in the context of its call, even if the remote ends the stream', async () => {
      const peer = await pair((_payload, stream) => stream.reset(300), { codec });
      await peer.opened;
      const seen: string[] = [];
      const waiting = (): AsyncIterable<number> => ({
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise(() => undefined),
          return: () => {
            seen.push(current());
            return Promise.resolve({ done: true as const, value: undefined });
          },
        }),
      });
      const pushing = (): Observable<never> => NEVER.pipe(finalize(() => seen.push(current())));
      const calls = Object.entries({ ann: waiting, bob: pushing }).map(([name, make]) =>
        user.run(name, () =>
          peer
            .open('up')
            .sendAll(make())
            .catch(() => undefined),
        ),
      );
      await Promise.all(calls);
      expect(seen.sort()).toEqual(['ann', 'bob']);
    });

    it('A value that `overflow` has kept is encoded in the context of its source', async () => {
      const peer = await pair(counting, { codec });
      await peer.opened;
      const seen: string[] = [];
      const source = new Observable<object>((subscriber) => {
        for (let n = 0; n < VALUES; n++) subscriber.next(noting(seen));
        subscriber.complete();
      });
      await Promise.all([
        user.run('bob', () => peer.open('up').sendAll(larges())),
        user.run('ann', () => peer.open('up').sendAll(source, { overflow: { dropOldest: 10 } })),
      ]);
      expect([...new Set(seen)]).toEqual(['ann']);
    });

    it('A call is retried in its own context, with its delay, its interceptors and its input', async () => {
      const refusing: StreamHandler = (_payload, stream) => {
        stream.reset(ResetCode.REFUSED, 'busy');
      };
      const peer = await pair(refusing, { codec });
      await peer.opened;
      const seen: string[] = [];
      const note = (): void => void seen.push(current());
      peer.interceptOpen(note);
      const delay = (): Observable<unknown> => {
        note();
        return timer(1);
      };
      const input = (): Iterable<number> => {
        note();
        return [1];
      };
      const failed = user.run('ann', () => lastValueFrom(peer.open$('up', { input, retry: { count: 2, delay } })));
      await expect(failed).rejects.toMatchObject({ code: 'REFUSED' });
      expect(seen).toEqual(Array.from({ length: 8 }, () => 'ann'));
    });
  });

  describe('contexts of handlers', () => {
    it('A dialing peer handles pushes in the context of `connect`, even if a call makes it dial', async () => {
      const pushing: StreamHandler = (payload, stream) => {
        stream.peer.notify(payload);
      };
      const peer = await pair(pushing, { lazy: true });
      const pushed = new Promise<string>((resolve) => {
        peer.onStream(() => {
          resolve(current());
        });
      });
      user.run('ann', () => {
        peer.notify('p');
      });
      expect(await pushed).toBe('app');
    });

    it('A server handles all streams of a socket in one context, which belongs to no call', async () => {
      const seen: string[] = [];
      const peer = await pair((payload, stream) => {
        seen.push(current());
        return stream.reply(payload);
      });
      await Promise.all(['ann', 'bob'].map((name) => user.run(name, () => peer.request('p'))));
      expect(seen).toEqual([seen[0], seen[0]]);
      expect(['ann', 'bob']).not.toContain(seen[0]);
    });

    it('A server keeps the context of a socket when a reader in another context resumes it', async () => {
      const seen: string[] = [];
      let read: (value: unknown) => void = () => undefined;
      const isRead = new Promise((resolve) => (read = resolve));
      const peer = await pair(
        async (payload, stream) => {
          seen.push(current());
          if (payload !== 'slow') return stream.reply(payload);
          return user.run('reader', async () => {
            await isRead;
            for await (const value of stream) expect(value).toBe(SMALL);
          });
        },
        {},
        SMALL_LIMITS,
      );
      await peer.opened;
      // A sender that knows its line sends more than a stream may leave unread.
      await peer.request('x'.repeat(4_000_000));
      const upload = peer.open('slow').sendAll(Array.from({ length: 380 }, () => SMALL));
      await until('the server to pause the socket', () => (open[0]?.server.stats().bytes.held ?? 0) > PAUSED_BYTES);
      const answers = Array.from({ length: 5 }, () => peer.request('p'));
      read(null);
      await Promise.all([upload, ...answers]);
      expect(seen).toHaveLength(7);
      expect([...new Set(seen)]).toEqual([seen[0]]);
    });

    it('A bound subscriber of `open$` runs in the context of its call', async () => {
      const peer = await pair((_payload, stream) => stream.sendAll([1]));
      await peer.opened;
      const seen: string[] = [];
      await user.run('ann', () => {
        const next = AsyncResource.bind(() => seen.push(current()));
        return lastValueFrom(peer.open$('p').pipe(tap(next)));
      });
      expect(seen).toEqual(['ann']);
    });
  });
});

describe('thenables', () => {
  const logs = collectLogs();

  let server: TestServer;

  afterEach(() => server.dispose());

  /** The status that a server answers an upgrade with. */
  async function statusFor(options: UpgradeOptions, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    server = await testServer(options);
    const answer = await handshake(server.http, { headers });
    answer.socket.destroy();
    return answer.status;
  }

  describe.each(THENABLES)('$kind', ({ make }) => {
    it.each<readonly [what: string, verdict: unknown, status: number]>([
      ['true', true, 101],
      ['a context', { user: 'ann' }, 101],
      ['false', false, 403],
      ['401', 401, 401],
      ['nothing', undefined, 403],
      ['a refusal', refuse(429), 429],
      ['an empty list', [], 500],
    ])('A `verify` that returns it decides by its value: %s', async (_what, verdict, status) => {
      const work = { starts: 0 };
      expect(await statusFor({ verify: () => make(() => verdict, work) as unknown as Promise<Verdict> })).toBe(status);
      expect(work.starts).toBe(1);
      expect(server.peers.map(({ context }) => context)).toEqual(status === 101 ? [verdict === true ? {} : verdict] : []);
    });

    it('A `verify` whose result fails admits no peer', async () => {
      const verify = () =>
        make(() => {
          throw new Error('no database');
        }) as unknown as Promise<Verdict>;
      expect(await statusFor({ verify })).toBe(500);
      expect(logs.errors).toHaveLength(1);
    });

    it('An `origins` that returns it admits no page', async () => {
      const options = { origins: () => make(() => true) as unknown as boolean };
      expect(await statusFor(options, { Origin: 'https://app.example.org' })).toBe(500);
    });

    it('A `trustProxy` that returns it trusts no address', async () => {
      expect(await statusFor({ trustProxy: () => make(() => true) as unknown as boolean })).toBe(500);
    });

    it('A hello, its answer and an address are awaited, and `to` chooses no peer by it', async () => {
      const heard: unknown[] = [];
      server = await testServer({ onHello: (payload, stream) => make(() => void stream.reply(heard.push(payload))) });
      const url = `ws://127.0.0.1:${portOf(server.http)}`;
      const peer = connect(() => make(() => url) as unknown as Promise<string>, {
        hello: () => make(() => ({ payload: 'token' })) as unknown as Promise<{ payload: string }>,
      });
      await peer.opened;
      expect(heard).toEqual(['token']);
      const to = () => make(() => false) as unknown as boolean;
      expect(() => server.mux.notify('news', { to })).toThrow(
        new TypeError("expected the option 'to' to work synchronously, got a promise"),
      );
      await peer.close();
    });
  });

  describe('verdicts of `verify` that are no clear yes', () => {
    it.each<readonly [what: string, verdict: () => unknown, status: number]>([
      ['a generator, which has not run', function* () {}, 500],
      ['an async generator, which has not run', async function* () {}, 500],
      ['an Observable', () => of(true), 500],
      ['a boolean in a box', () => Object(false) as unknown, 500],
      ['a text in a box', () => Object('no') as unknown, 500],
      ['a promise of a generator', () => Promise.resolve([][Symbol.iterator]()), 500],
      ['a function', () => () => true, 403],
      ['a map, as the context', () => new Map([['user', 'ann']]), 101],
      ['the first value of an Observable', () => firstValueFrom(from([true])), 101],
    ])('A `verify` that returns %s is understood, or admits no peer', async (_what, verdict, status) => {
      expect(await statusFor({ verify: verdict as () => Verdict })).toBe(status);
      expect(server.peers).toHaveLength(status === 101 ? 1 : 0);
      for (const { context } of server.peers) expect(context).toBeInstanceOf(Object);
    });
  });
});

const HOUR_MS = 3_600_000;
const SHIFTS = [
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
] as const;

/** Shifts the system clock, as an administrator or a time service does. Timers do not change. */
function setClock(shiftMs: number): void {
  const realNow = Date.now;
  jest.spyOn(Date, 'now').mockImplementation(() => realNow() + shiftMs);
}

describe('shifted system clock', () => {
  let server: TestServer | null = null;

  afterEach(async () => {
    jest.restoreAllMocks();
    await server?.dispose();
    server = null;
  });

  it.each(SHIFTS)('Peers end only the call that is due when the system clock moves an hour %s', async (_where, shiftMs) => {
    let answer = (): void => undefined;
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
    server = await testServer({
      handler: async (payload, stream) => {
        await mayAnswer;
        await stream.reply(payload);
      },
    });
    const peer = connect(`ws://127.0.0.1:${portOf(server.http)}`, { keepalive: false });
    await peer.opened;
    const patient = Array.from({ length: 10 }, (_, nth) => peer.request(nth, { timeoutMs: 60_000 }));
    const impatient = peer.request('late', { timeoutMs: 20 });
    setClock(shiftMs);
    await expect(impatient).rejects.toBeInstanceOf(DeadlineExceededError);
    answer();
    expect(await Promise.all(patient)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await peer.close();
  });

  it.each(SHIFTS)('Peers notice a silent remote when the system clock moves an hour %s', async (_where, shiftMs) => {
    const silent = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'mux.v1.json' });
    await new Promise((resolve) => silent.once('listening', resolve));
    const peer = connect(`ws://127.0.0.1:${portOf(silent)}`, { keepalive: { idleMs: 20, timeoutMs: 20 }, reconnect: false });
    await peer.opened;
    setClock(shiftMs);
    expect(await firstValueFrom(peer.closes$)).toMatchObject({ code: 1006, reason: 'no sign of life' });
    silent.close();
  });

  it.each(SHIFTS)('Peers measure the round trip of a ping when the system clock moves an hour %s', async (_where, shiftMs) => {
    server = await testServer();
    const peer = connect(`ws://127.0.0.1:${portOf(server.http)}`, { keepalive: false });
    await peer.opened;
    const trip = peer.ping();
    setClock(shiftMs);
    const ms = await trip;
    expect([ms >= 0, ms < HOUR_MS / 2]).toEqual([true, true]);
    await peer.close();
  });
});

describe('fake timers', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('Fake timers of a test runner do not hold up sockets', async () => {
    const server = serve({ port: 0, host: '127.0.0.1', handler: (payload, stream) => stream.reply(payload) });
    const address = await server.listening;
    const dialer = connect(`ws://127.0.0.1:${address.port}`);
    expect(await dialer.request('x'.repeat(1_000_000))).toHaveLength(1_000_000);
    await dialer.close();
    await server.close();
  });
});
