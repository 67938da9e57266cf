import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { logger, RemoteError } from '../../src/index.js';
import type { PeerContext } from '../../src/index.js';
import type { Verdict } from '../../src/node.js';
import { answerOn, handshake, rawSocket, requestOf } from '../support/socket-handshake.js';
import { turn, until, watchResources } from '../support/socket-leaks.js';
import { emptied, testServer } from '../support/socket-servers.js';
import type { TestServer } from '../support/socket-servers.js';

describe('verify', () => {
  let leaks: ReturnType<typeof watchResources>;
  let server: TestServer;

  beforeEach(() => {
    leaks = watchResources();
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await server.dispose();
    expect(await leaks()).toEqual({});
  });

  const user = { user: 'ann' } as PeerContext;

  it.each<readonly [what: string, verdict: unknown, status: number, context: unknown]>([
    ['true', true, 101, { given: 'by the options' }],
    ['a context', user, 101, user],
    ['a promise of true', Promise.resolve(true), 101, { given: 'by the options' }],
    ['a promise of a context', Promise.resolve(user), 101, user],
    ['false', false, 403, null],
    ['401', 401, 401, null],
    ['403', 403, 403, null],
    ['a promise of false', Promise.resolve(false), 403, null],
    ['a promise of 401', Promise.resolve(401), 401, null],
    ['undefined, as one that forgot to return', undefined, 403, null],
    ['a promise of undefined', Promise.resolve(undefined), 403, null],
    ['null', null, 403, null],
    ['a truthy string', 'yes', 403, null],
    ['a number', 200, 403, null],
  ])('that gives %s', async (_what, verdict, status, context) => {
    server = await testServer({ verify: () => verdict as Verdict, context: { given: 'by the options' } as PeerContext });
    const answer = await handshake(server.http);
    expect(answer.status).toBe(status);
    if (status === 101) expect(server.peers.map((peer) => peer.context)).toEqual([context]);
    else expect(server.peers).toEqual([]);
    expect(server.refusals).toEqual(status === 101 ? [] : [{ status, reason: 'verify refused the request' }]);
    answer.socket.destroy();
  });

  it('that gives none leaves each peer a context of its own', async () => {
    server = await testServer({ verify: () => true });
    const answers = [await handshake(server.http), await handshake(server.http)];
    const contexts = server.peers.map(({ context }) => context);
    expect(contexts).toEqual([{}, {}]);
    expect(new Set(contexts).size).toBe(2);
    for (const { socket } of answers) socket.destroy();
  });

  it.each<readonly [what: string, verify: () => Promise<Verdict>]>([
    [
      'throws',
      () => {
        throw new Error('database is away');
      },
    ],
    ['rejects', () => Promise.reject(new Error('database is away'))],
  ])('that %s is answered with 500, and what went wrong is logged and not told', async (_what, verify) => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    server = await testServer({ verify });
    const { status, body } = await handshake(server.http);
    expect(status).toBe(500);
    expect(body).not.toContain('database');
    expect(error.mock.calls).toEqual([['rxmux: an upgrade request could not be judged', new Error('database is away')]]);
    expect(server.refusals).toEqual([{ status: 500, reason: 'the request could not be judged' }]);
  });

  it('that fails with the reset of a call of its own is logged without the payload of that', async () => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    server = await testServer({ verify: () => Promise.reject(new RemoteError('no such user', { password: 's3cret' })) });
    expect((await handshake(server.http)).status).toBe(500);
    expect(error.mock.calls).toEqual([
      ['rxmux: an upgrade request could not be judged', expect.stringMatching(/^RemoteError: no such user\n/)],
    ]);
  });

  it('sees the request, and only one that nothing else refuses', async () => {
    const seen: unknown[] = [];
    server = await testServer({
      verify: ({ url, headers }) => {
        seen.push([url, headers.authorization]);
        return true;
      },
      origins: ['https://example.org'],
    });
    await handshake(server.http, { protocols: ['x'], path: '/wrong-protocol' });
    jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    await handshake(server.http, { headers: { Origin: 'https://evil.example' }, path: '/wrong-origin' });
    const good = await handshake(server.http, { path: '/good?x=1', headers: { Authorization: 'Bearer token' } });
    good.socket.destroy();
    expect(seen).toEqual([['/good?x=1', 'Bearer token']]);
  });

  it.each<readonly [what: string, verdict: () => Verdict | Promise<Verdict>]>([
    ['at once', () => true],
    ['later', () => Promise.resolve(true)],
  ])('that closes the server and then lets the dialer in %s is answered with 503', async (_what, verdict) => {
    server = await testServer({
      verify: () => {
        void server.mux.close();
        return verdict();
      },
    });
    const answer = await handshake(server.http);
    expect(answer.status).toBe(503);
    expect(server.peers).toEqual([]);
    answer.socket.destroy();
  });

  describe('that has not decided', () => {
    let decide: (verdict: Verdict) => void;
    let asked: Promise<void>;

    beforeEach(async () => {
      let ask = (): void => undefined;
      asked = new Promise((resolve) => {
        ask = resolve;
      });
      server = await testServer({
        verify: () =>
          new Promise<Verdict>((resolve) => {
            decide = resolve;
            ask();
          }),
      });
    });

    it.each<readonly [how: string, leave: (socket: Awaited<ReturnType<typeof rawSocket>>) => void]>([
      ['resets', (socket) => socket.resetAndDestroy()],
      ['closes', (socket) => socket.destroy()],
      ['ends its half', (socket) => socket.end()],
    ])('is forgotten when the dialer %s, and a late verdict does nothing', async (_how, leave) => {
      const socket = await rawSocket(server.http);
      socket.write(requestOf());
      await asked;
      leave(socket);
      await emptied(server.http);
      decide(true);
      await turn();
      expect(server.peers).toEqual([]);
      expect(server.refusals).toEqual([]);
      socket.destroy();
    });

    it('is answered with 503 when the server closes, which does not wait for it', async () => {
      const socket = await rawSocket(server.http);
      const answer = answerOn(socket);
      socket.write(requestOf());
      await asked;
      await server.mux.close();
      expect(await answer).toMatchObject({ status: 503, body: 'this side is going away\n' });
      socket.destroy();
      decide(true);
      await turn();
      expect(server.peers).toEqual([]);
      expect(server.refusals).toEqual([{ status: 503, reason: 'this side is going away' }]);
    });

    it('does not hold up other dialers', async () => {
      const first = await rawSocket(server.http);
      const answers = [answerOn(first)];
      first.write(requestOf());
      await asked;
      const decideFirst = decide;
      const second = await rawSocket(server.http);
      answers.push(answerOn(second));
      second.write(requestOf());
      await until('the second to be asked', () => decide !== decideFirst);
      decide(true);
      expect((await answers[1])?.status).toBe(101);
      decideFirst(401);
      expect((await answers[0])?.status).toBe(401);
      first.destroy();
      second.destroy();
    });
  });
});
