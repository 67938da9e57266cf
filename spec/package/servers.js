// Runs each server of examples/servers with the packed package: it accepts the cookie of its login, and refuses all others by 401.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import { join } from 'node:path';
import { linesOf } from './example-server.js';
import { check, example, importFrom, removeAll, run, work } from './packed.js';

const COMMON_NAME = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];

const directory = example('servers');
const { connect } = await importFrom(directory, 'rxmux/node');
const { client, contract, request } = await importFrom(directory, 'rxmux/contract');
const api = contract({ me: request() });

/** Makes a self-signed certificate. */
function certificate() {
  const [TLS_KEY, TLS_CERT] = [join(work, 'key.pem'), join(work, 'cert.pem')];
  const made = ['-newkey', 'rsa:2048', '-nodes', '-keyout', TLS_KEY, '-out', TLS_CERT, '-days', '1'];
  execFileSync('openssl', ['req', '-x509', ...made, ...COMMON_NAME], { stdio: 'ignore' });
  return { TLS_KEY, TLS_CERT };
}

/** Starts a server on a free port. `printed` waits for a line of its output. */
async function start([command, ...args], env) {
  // A group of its own: a launcher of another runtime may have the server as its child.
  const server = spawn(command, [...args, '0'], { cwd: directory, env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(server, 'close');
  const printed = linesOf(server.stdout);
  const signal = (name) => process.kill(-server.pid, name);
  const kill = () => signal('SIGKILL');
  const line = await printed('listening').catch((error) => {
    kill();
    throw error;
  });
  return { port: line.split(' ')[1], printed, hup: () => server.kill('SIGHUP'), stop: () => (signal('SIGTERM'), closed), kill };
}

/** Logs in as ann, and returns the cookie. */
async function logIn(url, ca) {
  const { request: send } = ca === undefined ? http : https;
  const [response] = await once(send(`${url}/login?user=ann`, { method: 'POST', agent: false, ca }).end(), 'response');
  response.resume();
  return response.headers['set-cookie'][0].split(';')[0];
}

function dial(url, headers, ca, options) {
  return connect(`${url.replace('http', 'ws')}/mux`, { headers, tls: { ca }, ...options });
}

async function checkVerify(url, cookie, ca) {
  const peer = dial(url, { cookie }, ca);
  assert.equal(await client(peer, api).me.promise(), 'ann');
  await peer.close();
  for (const headers of [{}, { cookie: cookie.replace(/.$/, '') }]) {
    const refused = dial(url, headers, ca);
    await assert.rejects(refused.opened, { name: 'ConnectError', status: 401 });
  }
}

/** Replaces all workers while a client calls on. */
async function checkReload({ hup, printed }, url, cookie) {
  const peer = dial(url, { cookie }, undefined, { reconnect: true });
  const me = () => client(peer, api).me.promise(undefined, { retry: 'safe' });
  assert.equal(await me(), 'ann');
  let isOver = false;
  hup();
  const reloaded = printed('reloaded').then(() => (isOver = true));
  while (!isOver) assert.equal(await me(), 'ann');
  await reloaded;
  assert.ok(peer.status.reconnects > 0, `expected another socket, got ${JSON.stringify(peer.status)}`);
  await peer.close();
}

async function checkServer(title, command, { env = process.env, ca, further = () => undefined } = {}) {
  const server = await start(command, env);
  try {
    const url = `${ca === undefined ? 'http' : 'https'}://127.0.0.1:${server.port}`;
    const cookie = await logIn(url, ca);
    await checkVerify(url, cookie, ca);
    await further(server, url, cookie);
    await server.stop();
  } catch (error) {
    server.kill();
    throw error;
  }
  check(`${title}: accepts its cookie, refuses others by 401, and ends at SIGTERM`, true);
}

/** A program of a package of the registry. */
function programOf(name, version) {
  return run(directory, 'npx', '--yes', '--package', `${name}@${version}`, '--', 'sh', '-c', `command -v ${name}`).trim();
}

try {
  run(directory, 'npm', 'run', '--silent', 'build');
  const onNode = (file) => [process.execPath, `dist/${file}.js`];
  const paths = certificate();
  await checkServer('node:http', onNode('node'));
  await checkServer('node:https', onNode('https'), { env: { ...process.env, ...paths }, ca: readFileSync(paths.TLS_CERT) });
  await checkServer('Express', onNode('express'));
  await checkServer('Fastify', onNode('fastify'));
  await checkServer('NestJS', onNode('nest'));
  await checkServer('a cluster that is reloaded', onNode('cluster'), { further: checkReload });
  await checkServer('Bun', [programOf('bun', '1.4'), 'node.ts']);
  await checkServer('Deno', [programOf('deno', '2.9'), 'run', '--allow-all', 'node.ts']);
} finally {
  removeAll();
}
