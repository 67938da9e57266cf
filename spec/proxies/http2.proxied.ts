import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { buildSync } from 'esbuild';
import { interval } from 'rxjs';
import { serve } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { Balancer } from './balancer.js';
import { HAPROXY_H2 } from './products.js';
import { TICK_MS } from './upstream.js';
import type { Job } from './upstream.js';

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

collectLogs();

/** Runs the program on a version of Node, and returns the lines that it has printed until it ended by itself. */
async function printed(node: string, url: string, ca: Buffer): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rxmux-global-'));
  ends.push(() => {
    rmSync(folder, { recursive: true });
  });
  const [program, certificate] = [join(folder, 'program.mjs'), join(folder, 'ca.pem')];
  buildSync({
    entryPoints: [join(__dirname, 'global-program.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: program,
    // The package names only its built files that have side effects.
    ignoreAnnotations: true,
  });
  writeFileSync(certificate, ca);
  const child = spawn('npx', ['--yes', '--package', `node@${node}`, '--', 'node', program, url], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate },
  });
  let [lines, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (lines += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`expected the program to end by itself, got the status ${String(status)}: ${errors}`);
  return lines.trim().split('\n');
}

it.each([
  { node: '24', version: 'HTTP/1.1' },
  { node: '26', version: 'HTTP/2.0' },
])('The global WebSocket of Node $node reaches HAProxy by $version, and its peers keep the process', async ({ node, version }) => {
  const fronts: string[] = [];
  const server = serve({
    port: 0,
    host: '127.0.0.1',
    verify: ({ headers }) => fronts.push(String(headers['x-front'])) > 0,
    handler: (payload, stream) => {
      const job = payload as Job;
      if (job.op === 'ticks') return stream.sendAll(interval(TICK_MS));
      return stream.reply(job.op === 'measure' ? job.text.length : 'x'.repeat(job.op === 'fetch' ? job.length : 0));
    },
  });
  ends.push(() => server.close());
  const { port } = await server.listening;
  const balancer = await Balancer.start({ ...HAPROXY_H2, way: 'tls' }, [port], (text) => {
    const secure = 'ssl crt /etc/stunnel/mux.pem alpn h2,http/1.1\n  http-request set-header X-Front %HV';
    return text.replace('proto h2', secure);
  });
  ends.push(() => balancer.stop());
  expect(await printed(node, `wss://127.0.0.1:${balancer.port}`, balancer.ca)).toEqual(['answered', 'answered', 'heard']);
  expect(fronts).toEqual([version, version]);
});
