import { describe, expect, it, jest } from '@jest/globals';
import { Subject, firstValueFrom, map, take, timer } from 'rxjs';
import { respond } from '../../src/index.js';
import type { ConnectOptions, DialContext, Hello, Peer, Stream, StreamHandler } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import { renewing, sessionEnds, sessionExpired, sessionRefused } from '../../src/session.js';
import type { SessionEndOptions } from '../../src/session.js';
import { echo, greeted } from '../support/peer/dialing.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';
import { virtualPeerTime } from '../support/peer/time.js';

/** Says a hello with a number that rises, and notes each context. */
function counting(contexts: DialContext[]): (context: DialContext) => Hello {
  return (context) => {
    contexts.push(context);
    return { payload: contexts.length };
  };
}

const expiries = (contexts: readonly DialContext[]): readonly boolean[] => contexts.map(({ expired }) => expired);

describe('Refused and expired hellos', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  async function dialedBy(onHello: StreamHandler, options: ConnectOptions = {}, ms = 600_000) {
    const contexts: DialContext[] = [];
    const dialed = greeted({ reconnect: { maxAttempts: Infinity }, hello: counting(contexts), ...options }, { onHello, onStream: echo });
    const outcome = settled(dialed.peer.opened);
    await time.advance(ms);
    return { ...dialed, contexts, outcome };
  }

  it('A dialer stops at the first hello that `sessionRefused` refuses', async () => {
    const { network, peer, contexts, outcome } = await dialedBy(() => {
      throw sessionRefused('unknown token');
    });
    expect([network.dials.length, peer.status.state, expiries(contexts)]).toEqual([1, 'closed', [false]]);
    const payload = { name: 'REFUSED', message: 'unknown token', declared: true };
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'REMOTE', message: 'unknown token', payload }) });
    expect(logs.errors).toEqual([]);
  });

  it('A dialer stops where its own hello throws `sessionRefused`, and dials again after another error', async () => {
    const states: unknown[] = [];
    for (const error of [sessionRefused('log in again'), new Error('the token server is away')]) {
      const hello = jest.fn(() => Promise.reject<Hello>(error));
      const { peer } = await dialedBy(echo, { hello: renewing(hello) });
      states.push([peer.status.state, hello.mock.calls.length > 1]);
      void peer.close();
      await time.advance(3_000);
    }
    expect(states).toEqual([
      ['closed', false],
      ['waiting', true],
    ]);
  });

  it('A dialer says one fresh hello at once after `sessionExpired`, and stops when it has expired too', async () => {
    const { network, peer, contexts } = await dialedBy(() => Promise.reject(sessionExpired()));
    expect([network.dials.length, peer.status.state, expiries(contexts)]).toEqual([2, 'closed', [false, true]]);
  });

  it('A fresh hello that is accepted ends the expiry', async () => {
    const expired = new Set<unknown>([1, 3]);
    const { network, peer, contexts } = await dialedBy(
      (payload, stream) => {
        if (expired.has(payload)) throw sessionExpired();
        return stream.reply();
      },
      {},
      1_000,
    );
    expect([peer.status.state, expiries(contexts)]).toEqual(['open', [false, true]]);
    network.last.link.cut();
    await time.advance(60_000);
    expect([peer.status.state, expiries(contexts)]).toEqual(['open', [false, true, false, true]]);
    void peer.close();
    await time.advance(3_000);
  });

  it('`shouldRetry` has the last word on a refused hello', async () => {
    const { network, peer } = await dialedBy(
      () => {
        throw sessionRefused();
      },
      { reconnect: { shouldRetry: ({ attempt, willRetry }) => willRetry || attempt < 3 } },
    );
    expect([network.dials.length, peer.status.state]).toEqual([3, 'closed']);
  });

  it.each<[string, ConnectOptions['reconnect']]>([
    ['maxAttempts: Infinity', { maxAttempts: Infinity }],
    ['short delays', { maxAttempts: Infinity, minDelayMs: 1, maxDelayMs: 1 }],
  ])('A token that is always bad ends the dialing after 20 hellos: %s', async (_what, reconnect) => {
    const { network, peer, outcome } = await dialedBy(() => Promise.reject(new Error('bad token')), { reconnect });
    expect([network.dials.length, peer.status.state]).toEqual([20, 'closed']);
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'REMOTE', message: 'bad token' }) });
    expect(logs.errors.length).toBeLessThanOrEqual(4);
  });

  it('An accepted hello clears the count of failed hellos, and dials without an answer do not count', async () => {
    let hellos = 0;
    const { network, peer } = await dialedBy(
      (_, stream) => (++hellos % 19 === 0 ? stream.reply() : Promise.reject(new Error('busy'))),
      {
        reconnect: { maxAttempts: Infinity, minDelayMs: 1, maxDelayMs: 1 },
      },
      1_000,
    );
    expect([hellos, peer.status.state]).toEqual([19, 'open']);
    network.answer = { status: null };
    network.last.link.cut();
    await time.advance(1_000);
    network.answer = 'accept';
    await time.advance(1_000);
    expect([hellos, peer.status.state]).toEqual([38, 'open']);
    void peer.close();
    await time.advance(3_000);
  });
});

describe('Session that ends', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  const ending =
    (ms: number, options?: SessionEndOptions): StreamHandler =>
    (payload, stream) => {
      sessionEnds(stream, time.now + ms, options);
      return stream.reply(payload);
    };

  function renewed(onHello: StreamHandler, hello?: (context: DialContext) => Hello | Promise<Hello>) {
    const contexts: DialContext[] = [];
    const counted = counting(contexts);
    const watched = greeted(
      {
        reconnect: true,
        hello: renewing((context) => {
          const made = counted(context);
          return hello === undefined ? made : hello(context);
        }),
      },
      { onHello, onStream: (payload, stream) => (payload === null ? stream.sendAll(stream) : stream.reply(payload)) },
    );
    return { ...watched, contexts };
  }

  async function closed(peer: Peer): Promise<void> {
    void peer.close();
    await time.advance(3_000);
  }

  it('The server asks for a fresh hello 30 s before the end, on the same socket, and streams go on', async () => {
    const values: number[] = [];
    const { network, peer, contexts, states } = renewed(ending(100_000));
    peer.open$(null, { input: timer(0, 10_000).pipe(take(40)) }).subscribe((value) => values.push(value as number));
    await time.advance(69_999);
    expect(expiries(contexts)).toEqual([false]);
    await time.advance(1);
    expect(expiries(contexts)).toEqual([false, true]);
    await time.advance(330_000);
    expect([network.dials.length, expiries(contexts).length, states]).toEqual([1, 6, ['connecting 1', 'open 0']]);
    expect(values).toHaveLength(40);
    expect([logs.errors, logs.warnings]).toEqual([[], []]);
    await closed(peer);
  });

  it('`onHello` receives a fresh hello as any hello, and `onReply` its reply', async () => {
    const replies: unknown[] = [];
    const { network, peer } = renewed(ending(1_000), () => ({
      payload: { token: 't' },
      headers: { by: 'me' },
      onReply: (reply) => replies.push(reply),
    }));
    await time.advance(999);
    expect([network.dials.length, replies]).toEqual([1, [{ token: 't' }, { token: 't' }]]);
    await closed(peer);
  });

  it('A fresh hello may take as long as `helloTimeoutMs` of the server says, as the first one may', async () => {
    let hellos = 0;
    const onHello: StreamHandler = async (_, stream) => {
      if (++hellos > 1) await firstValueFrom(timer(15_000));
      sessionEnds(stream, time.now + 100_000);
      await stream.reply();
    };
    const { network, peer } = greeted(
      { reconnect: true, hello: renewing(() => ({})), helloTimeoutMs: 60_000 },
      { onHello, helloTimeoutMs: 60_000 },
    );
    await time.advance(110_000);
    expect([hellos, network.dials.length, logs.warnings]).toEqual([2, 1, []]);
    await closed(peer);
  });

  it.each([
    ['in the idle time', 150_000, 0, 150_000],
    ['at the end of the idle time', 75_000, 8_000, 153_000],
  ])('A fresh hello %s keeps no idle socket of a lazy peer', async (_, idleCloseMs, helloMs, closesAt) => {
    const onHello: StreamHandler = async (_payload, stream) => {
      sessionEnds(stream, time.now + 100_000);
      if (time.now > 0) await firstValueFrom(timer(helloMs));
      await stream.reply();
    };
    const { peer, reasons } = greeted(
      { reconnect: true, lazy: true, idleCloseMs, hello: renewing(() => ({})) },
      { onHello, onStream: echo },
    );
    void settled(peer.request('first'));
    await time.advance(closesAt - 1);
    expect(reasons).toEqual([]);
    await time.advance(1);
    expect(reasons).toEqual([expect.objectContaining({ code: 1000, reason: 'idle' })]);
    await closed(peer);
  });

  it('Other streams are accepted while a fresh hello is under way', async () => {
    let hellos = 0;
    const { peer } = renewed((_, stream) => {
      if (++hellos > 1) return new Promise(() => undefined);
      sessionEnds(stream, time.now + 20_000);
      return stream.reply();
    });
    await time.advance(10_001);
    const answer = peer.request('still here');
    await time.advance(10);
    expect([hellos, await answer]).toEqual([2, 'still here']);
    await closed(peer);
  });

  it('The end of a session closes the connection in good order where the hello does not renew, and the dialer says a new hello', async () => {
    const contexts: DialContext[] = [];
    const { network, peer, reasons } = greeted(
      { reconnect: true, hello: counting(contexts) },
      { onHello: ending(100_000), onStream: echo },
    );
    await time.advance(99_999);
    expect(network.dials.length).toBe(1);
    await time.advance(1_100);
    expect([network.dials.length, peer.status.state, reasons]).toEqual([
      2,
      'open',
      [expect.objectContaining({ code: 1000, reason: 'the session has ended', willRetry: true })],
    ]);
    await closed(peer);
  });

  it('A fresh hello that cannot be made is logged, and the session ends', async () => {
    const { network, peer } = renewed(ending(100_000), ({ expired }) => {
      if (expired) throw new Error('no refresh token');
      return { payload: 1 };
    });
    await time.advance(101_000);
    expect(network.dials.length).toBe(2);
    expect(logs.warnings).toEqual([expect.stringMatching(/^rxmux: peer \d+ .*: no fresh hello was accepted: no refresh token$/)]);
    await closed(peer);
  });

  it('A fresh hello that is made after the end of its session is one warning, and no error', async () => {
    const { network, peer } = renewed(ending(100_000), ({ expired }) =>
      expired ? firstValueFrom(timer(30_001).pipe(map(() => ({ payload: 2 })))) : { payload: 1 },
    );
    await time.advance(140_000);
    expect([network.dials.length, logs]).toEqual([
      2,
      { warnings: [expect.stringMatching(/: no fresh hello was accepted: the connection/)], errors: [] },
    ]);
    await closed(peer);
  });

  it('A fresh hello that `sessionRefused` refuses ends the connection and the dialing', async () => {
    let hellos = 0;
    const { network, peer, states } = renewed((_, stream) => {
      if (++hellos > 1) throw sessionRefused('logged out');
      sessionEnds(stream, time.now + 10_000);
      return stream.reply();
    });
    await time.advance(60_000);
    expect([network.dials.length, peer.status.state, states.at(-1)]).toEqual([2, 'closed', 'closed 1008']);
  });

  it('A fresh hello without an end of its session ends the earlier end', async () => {
    let hellos = 0;
    const { network, peer } = renewed((_, stream) => {
      if (++hellos === 1) sessionEnds(stream, time.now + 10_000);
      return stream.reply();
    });
    await time.advance(3_600_000);
    expect([hellos, network.dials.length, peer.status.state]).toEqual([2, 1, 'open']);
    await closed(peer);
  });

  it('A fresh hello that keeps the end of its session is asked for once, and the session ends', async () => {
    let hellos = 0;
    const endsAt = time.now + 10_000;
    const { network, peer } = renewed((_, stream) => {
      if (++hellos <= 2) sessionEnds(stream, endsAt);
      return stream.reply();
    });
    await time.advance(9_999);
    expect([hellos, network.dials.length]).toEqual([2, 1]);
    await time.advance(1_000);
    expect([hellos, network.dials.length]).toEqual([3, 2]);
    await closed(peer);
  });

  it.each<[string, number]>([
    ['settles during its renewal', 9_000],
    ['settles after its renewal, and has a time limit of its own', 20_000],
  ])('A hello whose handler %s leaves the judgement to the fresh hello', async (_what, ms) => {
    let hellos = 0;
    const { network, peer, reasons } = renewed(async (_, stream) => {
      if (++hellos === 1) {
        sessionEnds(stream, time.now + 16_000);
        await stream.reply();
        await firstValueFrom(timer(ms));
        throw new Error('the audit log is full');
      }
      await firstValueFrom(timer(4_000));
      await stream.reply();
    });
    await time.advance(60_000);
    expect([hellos, network.dials.length, peer.status.state, reasons]).toEqual([2, 1, 'open', []]);
    await closed(peer);
  });

  it('The end of a session holds until a fresh hello is accepted, also where that hello has set a later end', async () => {
    let hellos = 0;
    const onHello: StreamHandler = async (_, stream) => {
      sessionEnds(stream, time.now + (++hellos === 1 ? 10_000 : 100_000));
      if (hellos === 2) await firstValueFrom(timer(30_000));
      await stream.reply();
    };
    const { network, peer, reasons } = greeted({ reconnect: true, hello: renewing(() => ({})) }, { onHello, helloTimeoutMs: 0 });
    await time.advance(9_999);
    expect([hellos, network.dials.length]).toEqual([2, 1]);
    await time.advance(1_001);
    expect([network.dials.length, reasons]).toEqual([2, [expect.objectContaining({ reason: 'the session has ended' })]]);
    await closed(peer);
  });

  it('A fresh hello ends the earlier end as it is accepted, also where its handler goes on', async () => {
    let hellos = 0;
    const { network, peer } = renewed(async (_, stream) => {
      if (++hellos === 1) sessionEnds(stream, time.now + 10_000);
      await stream.reply();
      if (hellos === 2) await firstValueFrom(timer(60_000));
    });
    await time.advance(120_000);
    expect([hellos, network.dials.length, peer.status.state]).toEqual([2, 1, 'open']);
    await closed(peer);
  });

  it('A fresh hello goes to no other socket than the one that has asked for it', async () => {
    const said: unknown[] = [];
    const { network, peer } = renewed(
      (payload, stream) => {
        if (said.push(payload) === 1) sessionEnds(stream, time.now + 10_000);
        return stream.reply();
      },
      ({ expired }) => (expired ? firstValueFrom(timer(4_000).pipe(map(() => ({ payload: 'fresh' })))) : { payload: 'dial' }),
    );
    await time.advance(5_001);
    network.last.link.cut();
    await time.advance(20_000);
    expect([network.dials.length, said, peer.status.state]).toEqual([2, ['dial', 'dial'], 'open']);
    expect(logs).toEqual({ warnings: [expect.stringMatching(/: no fresh hello was accepted: the connection/)], errors: [] });
    await closed(peer);
  });

  it('An interceptor of the dialer that fails for the question is logged, and the session goes on', async () => {
    let hellos = 0;
    const { network, peer } = renewed((_, stream) => {
      sessionEnds(stream, ++hellos === 1 ? time.now + 10_000 : Infinity);
      return stream.reply();
    });
    peer.interceptReplyHeaders(() => {
      throw new Error('no trace');
    });
    await time.advance(60_000);
    expect([hellos, network.dials.length, peer.status.state]).toEqual([2, 1, 'open']);
    expect(logs).toEqual({ warnings: [], errors: [expect.stringMatching(/: a handler failed$/)] });
    await closed(peer);
  });

  it('Neither an open interceptor nor `calls$` of the server sees the question for a fresh hello', async () => {
    const seen: unknown[] = [];
    const { network, peer, contexts } = renewed((payload, stream) => {
      if (payload === 1) {
        stream.peer.calls$.subscribe(() => seen.push('a call'));
        stream.peer.interceptOpen((_, opened) => {
          seen.push(opened);
          throw new Error('no call of this program');
        });
      }
      return ending(10_000)(payload, stream);
    });
    await time.advance(60_000);
    expect([network.dials.length, expiries(contexts).includes(true), seen]).toEqual([1, true, []]);
    expect(logs).toEqual({ warnings: [], errors: [] });
    await closed(peer);
  });

  it('No handler of the dialer sees the question for a fresh hello', async () => {
    const seen: unknown[] = [];
    const { network, peer, contexts } = renewed(ending(10_000));
    peer.streams$.pipe(respond((payload, { headers }) => void seen.push(payload, headers))).subscribe();
    peer.onStream((payload) => void seen.push(payload));
    await time.advance(60_000);
    expect([network.dials.length, expiries(contexts).includes(true), seen]).toEqual([1, true, []]);
    expect(logs).toEqual({ warnings: [], errors: [] });
    await closed(peer);
  });

  it('A session beyond the longest timer of the platform ends in its time', async () => {
    const days = 24 * 3_600_000;
    const { network, peer } = renewed(ending(30 * days, { askBeforeMs: 0 }), ({ expired }) =>
      expired ? { payload: 'late' } : { payload: 'first' },
    );
    await time.advance(30 * days - 1);
    expect(network.dials.length).toBe(1);
    await closed(peer);
  });

  it('A closed peer leaves no timer of its session', async () => {
    const { peer } = renewed(ending(100_000));
    await time.advance(10);
    await closed(peer);
    expect(time.isOver()).toBe(true);
  });

  it('A client that leaves before `sessionEnds` leaves no timer', async () => {
    const onHello: StreamHandler = async (_, stream) => {
      await firstValueFrom(timer(1_000));
      sessionEnds(stream, time.now + 3_600_000);
      await stream.reply();
    };
    const { peer } = renewed(onHello);
    await time.advance(10);
    await closed(peer);
    expect(time.pending).toBe(0);
  });

  it('A session whose time is over is expired', async () => {
    const { network, peer, contexts } = renewed((_, stream) => {
      sessionEnds(stream, time.now);
      return stream.reply();
    });
    await time.advance(60_000);
    expect([network.dials.length, peer.status.state, expiries(contexts)]).toEqual([2, 'closed', [false, true]]);
  });

  it.each<[string, (stream: Stream) => void, string]>([
    ['a text', (stream) => sessionEnds(stream, '2030' as unknown as number), "at: expected a valid Date, or ms since 1970, got '2030'"],
    ['an invalid date', (stream) => sessionEnds(stream, new Date(NaN)), 'at: expected a valid Date, or ms since 1970, got an object'],
    [
      'a misspelt option',
      (stream) => sessionEnds(stream, Infinity, { askMs: 1 } as SessionEndOptions),
      "options: expected one of askBeforeMs, got 'askMs'",
    ],
  ])('`sessionEnds` refuses %s', async (_what, call, message) => {
    const thrown: unknown[] = [];
    renewed((_, stream) => {
      try {
        call(stream);
      } catch (error) {
        thrown.push(error);
      }
      return stream.reply();
    });
    await time.advance(10);
    expect(thrown).toEqual([new TypeError(message)]);
  });
});

describe('Session over real sockets', () => {
  collectLogs();

  async function urlOf(server: ReturnType<typeof serve>): Promise<string> {
    const { port } = (await server.listening) as { port: number };
    return `ws://127.0.0.1:${port}`;
  }

  it('A fresh hello renews a session on the same socket', async () => {
    const tokens: unknown[] = [];
    const renewedOnce = new Subject<void>();
    const server = serve({
      port: 0,
      onHello: async (token, stream) => {
        tokens.push(token);
        // The first session asks half way through its 200 ms.
        if (tokens.length === 1) sessionEnds(stream, Date.now() + 200);
        await stream.reply();
        if (tokens.length === 2) renewedOnce.next();
      },
      handler: echo,
    });
    let token = 0;
    const renewal = firstValueFrom(renewedOnce);
    const peer = connect(await urlOf(server), { reconnect: true, hello: renewing(() => Promise.resolve({ payload: ++token })) });
    expect(await peer.request('before')).toBe('before');
    await renewal;
    expect(await peer.request('after')).toBe('after');
    expect([tokens, server.stats().connections.opened]).toEqual([[1, 2], 1]);
    await Promise.all([peer.close(), server.close()]);
  });

  it('`sessionEnds` names seconds, and streams that are no hello', async () => {
    const thrown: unknown[] = [];
    const note = (act: () => void): void => {
      try {
        act();
      } catch (error) {
        thrown.push(error);
      }
    };
    const server = serve({
      port: 0,
      onHello: (_, stream) => {
        note(() => sessionEnds(stream, 1_900_000_000));
        return stream.reply();
      },
      handler: (_, stream) => {
        note(() => sessionEnds(stream, Infinity));
        return stream.reply();
      },
    });
    const peer = connect(await urlOf(server), { hello: () => ({ payload: 'me' }) });
    await peer.request('x');
    await Promise.all([peer.close(), server.close()]);
    expect(thrown).toEqual([
      new TypeError('at: expected ms since 1970, got 1900000000, which may be seconds: write 1900000000 * 1000'),
      new TypeError('sessionEnds: expected the stream that onHello received last, got another'),
    ]);
  });

  it('A refused hello ends the dialing, and an expired one is refreshed', async () => {
    const server = serve({
      port: 0,
      onHello: ({ token }: { token: string }, stream) => {
        if (token === 'old') throw sessionExpired();
        if (token === 'bad') throw sessionRefused('bad token');
        return stream.reply();
      },
      handler: echo,
    });
    const url = await urlOf(server);
    const bad = connect(url, { reconnect: { maxAttempts: Infinity }, hello: () => ({ payload: { token: 'bad' } }) });
    expect(await settled(bad.opened)).toEqual({ error: expect.objectContaining({ code: 'REMOTE', message: 'bad token' }) });
    const good = connect(url, { reconnect: true, hello: ({ expired }) => ({ payload: { token: expired ? 'new' : 'old' } }) });
    expect(await good.request('hi')).toBe('hi');
    expect([bad.status.state, server.stats().connections.opened]).toEqual(['closed', 3]);
    await Promise.all([good.close(), server.close()]);
  });
});
