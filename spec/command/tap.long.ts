import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket as Ws, WebSocketServer } from 'ws';
import { BuiltCommand } from './command.js';

let command: BuiltCommand;
const files = mkdtempSync(join(tmpdir(), 'rxmux-tap-'));
beforeAll(() => {
  command = new BuiltCommand();
});
afterAll(() => {
  command.dispose();
  rmSync(files, { recursive: true });
});

/** Records one call through a tap, and returns the recording. */
async function recorded(codec: string, file: string, ...options: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const server = await command.serve('--codec', codec);
  const tap = await command.listen('tap', '--port', '0', '--record', file, ...options, server);
  const { status, out } = await command.run(['call', '--json', '--codec', codec, tap.url, '["check.echo",{"a":[1]}]']);
  expect({ status, out }).toEqual({ status: 0, out: '{"payload":{"a":[1]}}\n' });
  tap.child.kill('SIGTERM');
  await once(tap.child, 'exit');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('rxmux tap', () => {
  it.each(['json', 'msgpack'])('`rxmux tap` records the frames of both sides under %s', async (codec) => {
    const lines = await recorded(codec, join(files, `${codec}.ndjson`), '--payloads');
    expect(lines.slice(0, 2)).toMatchObject([
      { v: 1, c: 1, d: '>', f: { type: 'open', stream: 1, end: true, payload: ['check.echo', { a: [1] }] } },
      { v: 1, c: 1, d: '<', f: { type: 'data', stream: 1, end: true, payload: { a: [1] } } },
    ]);
  });

  it('`rxmux tap` records only the size of a payload without --payloads', async () => {
    const [first] = await recorded('json', join(files, 'sizes.ndjson'));
    expect(first).toMatchObject({ f: { type: 'open', payload: { $size: 24 } } });
  });

  it.each(['mux.v1.msgpack', 'mux.v1.cbor'])('`rxmux tap` passes on the message that a server sends first, under %s', async (protocol) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => {
      socket.send(Uint8Array.of(0x80));
    });
    await once(server, 'listening');
    const tap = await command.listen('tap', '--port', '0', `ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const dialer = new Ws(tap.url, protocol);
    const [message] = (await once(dialer, 'message')) as [Buffer];
    expect([...message]).toEqual([0x80]);
    dialer.terminate();
    for (const client of server.clients) client.terminate();
    server.close();
  });
});

describe('rxmux replay', () => {
  it.each(['json', 'msgpack'])('`rxmux replay` sends the frames again, and prints the answers under %s', async (codec) => {
    const file = join(files, `replayed-${codec}.ndjson`);
    await recorded(codec, file, '--payloads');
    const server = await command.serve('--codec', codec);
    const { status, out } = await command.run(['replay', '--json', '--speed', '0', '--codec', codec, '--timeout', '60000', file, server]);
    expect(status).toBe(0);
    expect(out).toContain('"f":{"type":"data","stream":1,"end":true,"payload":{"a":[1]}}');
  });

  it('`rxmux replay` refuses a recording without payloads', async () => {
    const file = join(files, 'without.ndjson');
    await recorded('json', file);
    const { status, err } = await command.run(['replay', file, 'ws://127.0.0.1:1']);
    expect({ status, err }).toMatchObject({
      status: 2,
      err: expect.stringContaining('rxmux tap --record FILE --payloads makes a recording'),
    });
  });
});
