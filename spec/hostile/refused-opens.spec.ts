import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { REFUSED_OPENS } from '../../src/connection/inbound.js';
import { collectLogs } from '../support/peer/logs.js';

/** Streams that a server accepts, opens without an answer, and refusals after which the attack ends. */
const [TAKEN, UNANSWERED, REFUSALS] = [1_000, 500, 12_000];

/** The most opens that one read brings before the rest. */
const OPENS_PER_READ = 2_000;

collectLogs();

let server: MuxServer;

afterEach(async () => {
  await server.close({ drainMs: 0 });
});

describe('refused opens', () => {
  it('A server slows an attacker whose opens it refuses, keeps the connection, and answers an honest caller', async () => {
    const forever = new Promise<void>(() => undefined);
    server = serve({ port: 0, host: '127.0.0.1', onStream: (payload, stream) => (payload === null ? forever : stream.reply(payload)) });
    const { port } = (await server.listening) as AddressInfo;
    const url = `ws://127.0.0.1:${port}/`;
    const honest = connect(url);
    await honest.opened;
    const attacker = new WebSocket(url, ['mux.v1.json']);
    await new Promise((resolve) => attacker.once('open', resolve));
    let refusals = 0;
    let id = -1;
    const open = (): void => {
      attacker.send(`{"type":"open","stream":${(id += 2)}}`);
    };
    attacker.on('message', () => {
      refusals++;
      open();
    });
    const began = performance.now();
    for (let n = 0; n < TAKEN + UNANSWERED; n++) open();
    let answers = 0;
    while (refusals < REFUSALS) answers += Number(await honest.request(1));
    expect(attacker.readyState).toBe(WebSocket.OPEN);
    // Holds at any speed of the machine. Without rests it takes a fraction of a second to refuse them all.
    const seconds = (performance.now() - began) / 1_000;
    expect(refusals).toBeLessThanOrEqual(REFUSED_OPENS.burst + REFUSED_OPENS.perSecond * seconds + OPENS_PER_READ);
    // Holds at any speed, too: no read of the attacker's opens goes by without an answer.
    expect(answers).toBeGreaterThan(refusals / OPENS_PER_READ);
    attacker.terminate();
    await honest.close();
  });
});
