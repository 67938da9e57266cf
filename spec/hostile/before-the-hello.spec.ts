import { describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { connect, serve } from '../../src/node.js';
import { DEFAULT_HELLO_LIMITS } from '../../src/peer/hello.js';
import type { Peer } from '../../src/index.js';
import { collectLogs } from '../support/peer/logs.js';
import { portOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { until } from '../support/socket/leaks.js';

/** Functions that end the peers, servers and sockets of a test. */
const opened: (() => void)[] = [];
const http = httpServer((server) => {
  for (const end of opened.splice(0)) end();
  server.closeAllConnections();
});
// Declared after `http`, so that it also collects the logs of ending it.
collectLogs();

const ATTACKERS = 10;
const PIECE = 32 * 1024;
const PIECES = (4 * DEFAULT_HELLO_LIMITS.maxHeldBytes) / PIECE;

interface Answer {
  readonly type: string;
  readonly stream?: number;
  readonly code?: number;
  readonly reason?: string;
}

/** A dialer that sends any frames and never waits. */
class Attacker {
  readonly socket = new WebSocket(`ws://127.0.0.1:${portOf(http.now)}`, ['mux.v1.json']);
  readonly answers: Answer[] = [];
  closed: number | null = null;

  constructor() {
    this.socket.on('message', (data: Buffer) => this.answers.push(JSON.parse(data.toString()) as Answer));
    this.socket.on('close', (code) => (this.closed = code));
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  /** Begins {@link PIECES} payloads and ends none. The pong to the ping behind them shows that the server has read all. */
  begin(first: number): void {
    for (let nth = 0; nth < PIECES; nth++) this.send({ type: 'open', stream: first + 2 * nth, fragment: 'x'.repeat(PIECE), more: true });
    this.send({ type: 'ping', nonce: 'read' });
  }

  get isRead(): boolean {
    return this.answers.some(({ type }) => type === 'pong');
  }

  get resets(): readonly Answer[] {
    return this.answers.filter(({ type }) => type === 'reset');
  }
}

async function attackers(count: number): Promise<readonly Attacker[]> {
  const all = Array.from({ length: count }, () => new Attacker());
  for (const { socket } of all) opened.push(() => socket.terminate());
  await until('all to be connected', () => all.every(({ socket }) => socket.readyState === WebSocket.OPEN));
  return all;
}

/** A dialer with an accepted hello, at a server that never answers the hello of a stranger. Both have the default options. */
async function letIn(): Promise<Peer> {
  const mux = serve({
    server: http.now,
    onHello: (token, stream) => (token === 'sesame' ? stream.reply('welcome') : new Promise(() => undefined)),
    handler: (payload, stream) => stream.reply(payload),
  });
  const friend = connect(`ws://127.0.0.1:${portOf(http.now)}`, { hello: () => ({ payload: 'sesame' }) });
  opened.push(
    () => void friend.close(),
    () => void mux.close(),
  );
  await friend.opened;
  return friend;
}

describe(`${ATTACKERS} attackers before the hello`, () => {
  it('A server holds at most 1 MiB for an attacker, and four times as much for an accepted dialer', async () => {
    const friend = await letIn();
    const [guest, ...strangers] = await attackers(ATTACKERS + 1);
    if (guest === undefined) throw new Error('expected a guest');
    guest.send({ type: 'open', stream: 1, payload: 'sesame', end: true });
    await until('the welcome', () => guest.answers.length > 0);
    for (const each of [guest, ...strangers]) each.begin(3);
    await until('everything to be read', () => [guest, ...strangers].every(({ isRead }) => isRead));

    const held = [guest, ...strangers].map(({ resets }) => (PIECES - resets.length) * PIECE);
    expect(held).toEqual([PIECES * PIECE, ...strangers.map(() => DEFAULT_HELLO_LIMITS.maxHeldBytes)]);
    const [first] = strangers[0]?.resets ?? [];
    expect(first).toMatchObject({ code: 11, reason: expect.stringContaining('(maxHeldBytes), before the hello was accepted') });
    expect(await friend.request('still there?')).toBe('still there?');
  });

  it('A server ends the connection of an attacker that sends many items, and accepts them from an accepted dialer', async () => {
    const friend = await letIn();
    const strangers = await attackers(ATTACKERS);
    const payload = Array.from({ length: DEFAULT_HELLO_LIMITS.maxPayloadItems }, () => []);
    for (const stranger of strangers) stranger.send({ type: 'open', stream: 1, payload, end: true });
    await until('all to be cut', () => strangers.every(({ closed }) => closed !== null));
    const reason = expect.stringContaining('(maxPayloadItems), got more, before the hello was accepted');
    expect(strangers.map(({ closed, answers }) => [closed, answers])).toEqual(
      strangers.map(() => [1002, [expect.objectContaining({ type: 'goaway', reason })]]),
    );
    expect(await friend.request(payload)).toEqual(payload);
  });
});
