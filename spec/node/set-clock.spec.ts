import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { WebSocketServer } from 'ws';
import { connect } from '../../src/node.js';
import { DeadlineExceededError } from '../../src/index.js';
import { portOf } from '../support/socket/handshake.js';
import { testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

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
