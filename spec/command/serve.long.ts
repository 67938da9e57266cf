import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { BuiltCommand } from './command.js';

let command: BuiltCommand;
const files = mkdtempSync(join(tmpdir(), 'rxmux-serve-'));
const served = join(files, 'served');
beforeAll(() => {
  command = new BuiltCommand();
  mkdirSync(join(served, 'below'), { recursive: true });
  writeFileSync(join(files, 'secret'), 'secret');
  writeFileSync(join(served, 'below/file'), 'open');
  symlinkSync(join(files, 'secret'), join(served, 'link'));
  symlinkSync(files, join(served, 'up'));
  symlinkSync('below', join(served, 'in'));
  symlinkSync(served, join(files, 'alias'));
});
afterAll(() => {
  command.dispose();
  rmSync(files, { recursive: true });
});

async function fileOf(directory: string, path: string): Promise<{ readonly status: number | null; readonly text: string }> {
  const { status, out, err } = await command.run(['call', await command.serve('--files', directory), JSON.stringify(['file', path])]);
  return { status, text: status === 0 ? Buffer.from(out, 'base64').toString() : err };
}

describe('rxmux serve --files', () => {
  it.each([
    ['a file', served, 'below/file'],
    ['a file behind a link that stays inside', served, 'in/file'],
    ['a file below a link to the directory', join(files, 'alias'), 'below/file'],
    ['a file below /', '/', join(served, 'below/file')],
  ])('The command serves %s', async (_, directory, path) => {
    expect(await fileOf(directory, path)).toEqual({ status: 0, text: 'open' });
  });

  it.each([
    ['json', 'b3Blbg=='],
    ['rich', 'Uint8Array(4) [ 111, 112, 101, 110 ]'],
    ['msgpack', 'Uint8Array(4) [ 111, 112, 101, 110 ]'],
  ])('The pieces of a file are bytes under a codec that carries them: %s sends %s', async (codec, piece) => {
    const url = await command.serve('--codec', codec, '--files', served);
    expect(await command.run(['call', '--codec', codec, url, '["file","below/file"]'])).toEqual({ status: 0, out: `${piece}\n`, err: '' });
  });

  it.each([
    ['link', 3, "no file 'link'"],
    ['up/secret', 3, "no file 'up/secret'"],
    ['up/none', 3, "no file 'up/none'"],
    ['../secret', 4, ''],
    ['below', 3, "no file 'below'"],
    ['a\u0000b', 3, 'no file'],
  ])('The command serves nothing outside of the directory by %j', async (path, status, text) => {
    const answer = await fileOf(served, path);
    expect(answer).toEqual({ status, text: expect.stringContaining(text) });
    expect(answer.text).not.toMatch(/^secret$/);
  });
});

describe('rxmux serve on a loopback address', () => {
  async function answerTo(host: string, options: readonly string[], origin?: string): Promise<number | undefined> {
    const { port } = new URL(await command.serve(...options));
    const named = host.replace('PORT', port);
    const headers = { Host: named, ...(origin === undefined ? {} : { Origin: `http://${named}` }) };
    const dialer = new WebSocket(`ws://127.0.0.1:${port}`, 'mux.v1.json', { headers }).on('error', () => undefined);
    const answer = await Promise.race([
      once(dialer, 'upgrade'),
      once(dialer, 'unexpected-response').then(([, refusal]) => [refusal as unknown]),
    ]);
    dialer.terminate();
    return (answer[0] as IncomingMessage).statusCode;
  }

  it.each([
    ['rebound.example.org:PORT', [], 403],
    ['127.0.0.1.example.org:PORT', [], 403],
    ['localhost.example.org', [], 403],
    ['rebound.example.org:PORT', ['--host', '0.0.0.0'], 403],
    ['localhost:PORT', [], 101],
    ['app.localhost:PORT', [], 101],
    ['127.0.0.1:PORT', [], 101],
    ['[::1]:PORT', [], 101],
    ['127.0.0.1:PORT', ['--host', '0.0.0.0'], 101],
  ])('A page that asks for %s with the options %j is answered with %i', async (host, options, status) => {
    expect(await answerTo(host, options, 'own')).toBe(status);
    expect(await answerTo(host, options)).toBe(status);
  });
});
