// rxmux and another library on one HTTP server: both work, and either may leave.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, refuse, serve } from 'rxmux/node';
import { DEV_SERVERS } from './dev-servers.js';
import { answerAt, originOf } from './dial.js';
import { LIBRARIES, twoServers } from './libraries.js';
import { checkLost } from './lost.js';
import { checkSocketIo } from './socket-io.js';
import { checkSuperJson } from './superjson.js';

function passed(title) {
  console.log(`  ok  ${title}`);
}

async function listening() {
  const http = createServer().listen(0, '127.0.0.1');
  await once(http, 'listening');
  return { http, port: http.address().port };
}

const answers = { handler: (payload, stream) => stream.reply(`got ${payload}`) };
/** Longer than socket.io waits for an answer to an upgrade, as the test sets it. */
const verify = () => delay(50, true);

const join = (http, path = '/mux') => serve({ server: http, path, verify, ...answers });

function peerAt(port, path, headers = {}) {
  return connect(`ws://127.0.0.1:${port}${path}`, { headers: { origin: originOf(port), ...headers } });
}

async function dial(port, path = '/mux') {
  const peer = peerAt(port, path);
  await ask(peer);
  return peer;
}

async function ask(peer) {
  assert.equal(await peer.request('hi'), 'got hi');
}

/** The answer to an upgrade that nobody has; `none` if there is none for as long as `meanwhile` takes. */
function answerToNobody(port, expected, meanwhile) {
  const answer = answerAt(port, '/nobody');
  return expected === 'none' ? Promise.race([answer, meanwhile().then(() => 'none')]) : answer;
}

/** Joins before the other, and again after it. The first time rxmux leaves, the second time the other does. */
async function checkLibrary({ name, join: joinOther, nobody }) {
  const { http, port } = await listening();
  const first = join(http);
  const other = await joinOther(http);
  const before = await checkBoth(port, other);
  assert.equal(await answerToNobody(port, nobody, () => other.talk(port)), nobody);
  await ask(before);
  await before.close();
  await first.close();
  await other.talk(port);

  const second = join(http);
  const after = await checkBoth(port, other);
  await other.leave();
  await ask(after);
  await after.close();
  await second.close();
  http.close();
  http.closeAllConnections();
  passed(`beside ${name}, in both orders`);
}

/** Uses both in turns. Returns the peer, whose socket the other leaves alone. */
async function checkBoth(port, other) {
  const peer = await dial(port);
  for (let nth = 0; nth < 3; nth++) {
    await other.talk(port);
    await ask(peer);
  }
  return peer;
}

async function checkTwoServers() {
  const { http } = await listening();
  assert.deepEqual(await twoServers(http), ['Invalid WebSocket frame: RSV1 must be clear', 'Unexpected server response: 400']);
  http.close();
  passed('two WebSocketServers with a path each refuse the dialers of each other');
}

async function checkDevServer({ name, start, admitsAll }) {
  const admits = ({ headers }) => headers.authorization === undefined || refuse(429, { 'Retry-After': 7 });
  const upstream = serve({ port: 0, host: '127.0.0.1', verify: admits, ...answers });
  await upstream.listening;
  let mux;
  const { port, talk, leave } = await start(upstream.url, (http) => (mux = join(http, '/own')));
  const peers = [await dial(port), await dial(port, '/own')];
  for (let nth = 0; nth < 3; nth++) {
    await talk();
    for (const peer of peers) await ask(peer);
  }
  assert.equal(await answerToNobody(port, 'none', talk), 'none');
  const refused = peerAt(port, '/mux', { authorization: 'none' });
  await assert.rejects(refused.opened, { name: 'ConnectError', status: 429 });
  await assert.rejects(peerAt(port, '/away').opened, { name: 'ConnectError', status: null });
  const notOfPage = connect(`ws://127.0.0.1:${port}/mux`);
  if (admitsAll) await ask(notOfPage);
  else await assert.rejects(notOfPage.opened, { name: 'ConnectError', status: 403 });
  await notOfPage.close();
  for (const peer of peers) await ask(peer);
  for (const peer of peers) await peer.close();
  await mux.close();
  await talk();
  await upstream.close();
  await leave();
  passed(`joins ${name}, and is reached through it`);
}

async function checkAll() {
  await checkLost();
  passed('callers of tRPC, oRPC, capnweb, graphql-ws, socket.io and rxmux see a lost socket as the pages say');
  await checkSocketIo();
  passed('socket.io loses and queues what the page says');
  await checkSuperJson();
  passed("the page's codec over superjson carries what the page says");
  await checkTwoServers();
  for (const devServer of DEV_SERVERS) await checkDevServer(devServer);
  for (const library of LIBRARIES) await checkLibrary(library);
}

// Next.js survives errors that nobody has handled, and keeps watching its folder after its end.
checkAll().then(
  () => process.exit(),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
