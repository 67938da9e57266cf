import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { connect } from '../../src/node.js';
import { bundled } from '../support/process/bundled.js';

// A server with the default options in its own process with a heap of 1 GiB. Its handler keeps each payload of an attacker forever.
const bundle = bundled(`
  import { serve } from './node.js';
  const handler = (payload, stream) => (payload === 'ping' ? stream.reply('pong') : new Promise(() => undefined));
  const server = serve({ port: 0, host: '127.0.0.1', handler });
  void server.listening.then(({ port }) => process.send({ port }));
  process.on('disconnect', () => process.exit());
`);
const ATTACKERS = 10;
const PAYLOADS = 4;
const FRAGMENT_UNITS = 60_000;

const json = (count: number, item: (nth: number) => string): string => `[${Array.from({ length: count }, (_, nth) => item(nth)).join()}]`;
const keys = (nth: number, count: number): string =>
  `{${Array.from({ length: count }, (_, key) => `"${(nth * count + key).toString(36)}":0`).join()}}`;

/** Payloads within the default limits, each close to the largest accepted one. */
const SHAPES: readonly (readonly [what: string, json: string])[] = [
  ['empty arrays', json(999_000, () => '[]')],
  ['arrays in arrays', json(4_900, () => '['.repeat(200) + ']'.repeat(200))],
  ['maps of 100 unique keys', json(4_950, (nth) => keys(nth, 100))],
  ['maps of one unique key each', json(300_000, (nth) => keys(nth, 1))],
  ['maps with a hole before their index', json(150_000, () => '{"34":0}')],
  ['text of two bytes each', JSON.stringify(`☃${'a'.repeat(15_000_000)}`)],
  ['unfinished text of two bytes each', ''],
];

async function attack(port: number, payload: string): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, ['mux.v1.json']);
  const ended = new Promise((resolve) => socket.on('close', resolve).on('error', resolve));
  await Promise.race([ended, new Promise((resolve) => socket.on('open', resolve))]);
  const send = (frame: object): Promise<unknown> =>
    Promise.race([ended, new Promise((resolve) => socket.send(JSON.stringify(frame), resolve))]);
  const text = payload === '' ? `☃${'a'.repeat(FRAGMENT_UNITS - 1)}`.repeat(200) : payload;
  for (let nth = 0; nth < PAYLOADS; nth++) {
    for (let from = 0; from < text.length; from += FRAGMENT_UNITS) {
      const isLast = payload !== '' && from + FRAGMENT_UNITS >= text.length;
      const fragment = text.slice(from, from + FRAGMENT_UNITS);
      await send({ type: 'open', stream: 1 + 2 * nth, fragment, ...(isLast ? {} : { more: true }) });
    }
  }
  // The socket stays open, with all its payloads, until the server ends.
  void ended;
}

async function started(child: ChildProcess): Promise<number> {
  const { port } = await new Promise<{ port: number }>((resolve) =>
    child.once('message', (message) => resolve(message as { port: number })),
  );
  return port;
}

describe(`${ATTACKERS} attackers within all limits`, () => {
  it.each(SHAPES)(
    'A server with a heap of 1 GiB survives attackers within all limits and answers other clients: %s',
    async (_what, payload) => {
      const child = fork(bundle, [], { execArgv: ['--max-old-space-size=1024'], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
      let errors = '';
      child.stderr?.on('data', (text: Buffer) => (errors += text.toString()));
      const port = await started(child);
      // Attackers keep the server busy for as long as the machine needs, so this dialer does not watch its line.
      const honest = connect(`ws://127.0.0.1:${port}`, { keepalive: false });
      let answers = 0;
      let attacking = true;
      const asking = (async () => {
        while (attacking) if ((await honest.request('ping', { timeoutMs: 0 })) === 'pong') answers++;
      })();
      await Promise.all(Array.from({ length: ATTACKERS }, () => attack(port, payload)));
      attacking = false;
      await asking;
      expect(await honest.request('ping', { timeoutMs: 0 })).toBe('pong');
      expect([child.exitCode, child.signalCode, errors.includes('heap'), answers > 0]).toEqual([null, null, false, true]);
      await honest.close();
      child.kill('SIGKILL');
    },
    300_000,
  );
});
