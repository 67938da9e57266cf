import { afterEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, from, of } from 'rxjs';
import { connect, refuse } from '../../src/node.js';
import type { UpgradeOptions, Verdict } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { THENABLES } from '../support/peer/thenables.js';
import { handshake, portOf } from '../support/socket/handshake.js';
import { testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

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
    expect(() => server.mux.notify('news', { to })).toThrow(new TypeError("expected the option 'to' to work synchronously, got a promise"));
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
