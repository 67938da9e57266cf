// The duties of the server of every runtime, seen by a client of Node. One table for all runtimes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as send } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Subject, firstValueFrom, lastValueFrom, map, take, toArray } from 'rxjs';

const PATIENCE_MS = 20_000;
const CONFORMANCE = join(import.meta.dirname, '../../conformance');
/** The files of cases that run by public functions. */
const FILES = ['encode', 'decode', 'split', 'assemble', 'roundtrip', 'rich'];
const LEAST_CASES = 300;
const MIB = 1024 * 1024;
/** The most that a stopped reader leaves in the buffers of both systems, of the runtime and of the library. */
const MOST_UNREAD_BYTES = 16 * MIB;

/** Rows of calls: each runs under both codecs. A row returns the cell of its runtime, by default `yes`. */
const CALLS = {
  'a request of a contract': async ({ calls }) => {
    assert.equal(await calls.square.promise({ n: 12 }), 144);
  },
  'a server stream, whose cancellation reaches the producer': async ({ calls, facts }) => {
    assert.deepEqual(await lastValueFrom(calls.ticks().pipe(take(3), toArray())), [0, 1, 2]);
    await until(async () => (await facts()).ticking === 0);
  },
  'an upload': async ({ calls }) => {
    assert.equal(await calls.total.promise(undefined, [1, 2, 3, 4]), 10);
  },
  'both directions at once': async ({ calls }) => {
    const words$ = new Subject();
    const shouted = [];
    const done = calls.shout(undefined, words$).forEach((word) => {
      shouted.push(word);
      if (word === 'TWO') words$.complete();
      else words$.next('two');
    });
    words$.next('one');
    await done;
    assert.deepEqual(shouted, ['ONE', 'TWO']);
  },
  'a call without an answer': async ({ calls, facts, path }) => {
    calls.note.notify(`noted over ${path}`);
    await until(async () => (await facts()).notes.includes(`noted over ${path}`));
  },
  'a push to all': async ({ peer, ask, path }) => {
    const pushed = firstValueFrom(peer.streams$.pipe(map(({ payload }) => payload)));
    assert.equal(await ask(`/notify?mux=${path}`), 1);
    assert.deepEqual(await pushed, { news: 1 });
  },
  '1 MiB each way, overtaken by a small call': async ({ calls, path }) => {
    const bytes = path === '/json' ? 'x'.repeat(MIB) : new Uint8Array(MIB).fill(7);
    const order = [];
    const large = calls.bytes.promise({ bytes }).then((echo) => {
      order.push('large');
      return echo;
    });
    await calls.square.promise({ n: 2 });
    order.push('small');
    assert.deepEqual(await large, bytes);
    assert.deepEqual(order, ['small', 'large']);
  },
};

/** Rows about the server. */
const SERVERS = {
  'the rows of `rxmux check`': async ({ url, directory }) => {
    const runs = ['json', 'msgpack'].map(async (codec) => {
      const args = [join(directory, 'node_modules/.bin/rxmux'), 'check', '--timeout', '8000', '--codec', codec, `${url}/${codec}`];
      const check = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      let text = '';
      check.stdout.on('data', (chunk) => (text += chunk));
      await once(check, 'close');
      assert.match(text, /passed, /);
      // Every other row has to find its handler.
      assert.doesNotMatch(text, /^ +– (?!.*(: only under|, checked with --limits)).*/m);
      return [...text.matchAll(/^ +✗ ([\d.]+).*/gm)].map(([row, number]) => {
        console.log(row);
        return number;
      });
    });
    const failed = (await Promise.all(runs)).flat();
    return failed.length === 0 ? 'all' : `all but ${failed.join(', ')}`;
  },
  'the cases of the codecs `json`, `msgpack` and `rich`': async ({ dial }) => {
    const texts = Object.fromEntries(FILES.map((file) => [file, readFileSync(join(CONFORMANCE, `${file}.json`), 'utf8')]));
    const asked = await fetch(`http://${dial.host}/conformance`, { method: 'POST', body: JSON.stringify(texts) });
    const { passed, failed } = await asked.json();
    assert.ok(passed + failed.length > LEAST_CASES, `ran ${passed} cases`);
    for (const row of failed) console.log(row);
    return failed.length === 0 ? 'all' : `all but ${failed.length}`;
  },
  'a reader that stops also stops the producer': async ({ url, directory, facts, api }) => {
    const reader = spawn(process.execPath, [join(directory, 'reader.js'), `${url}/json`], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(reader.stdout, 'data');
      reader.kill('SIGSTOP');
      const produced = await settled(async () => (await facts()).produced);
      assert.ok(produced < api.MANY_CHUNKS && produced * api.CHUNK.length < MOST_UNREAD_BYTES, `produced ${produced} chunks`);
      const { unsent } = (await facts('/json')).stats.bytes;
      assert.ok(unsent < MOST_UNREAD_BYTES, `the server holds ${unsent} bytes`);
      reader.kill('SIGCONT');
      const [status] = await once(reader, 'exit');
      assert.equal(status, 0);
      assert.equal((await facts()).produced, api.MANY_CHUNKS);
    } finally {
      reader.kill('SIGKILL');
    }
  },
  'a drain: streams end in peace, new dialers get 503': async ({ dial, ask, facts, api }) => {
    const peer = dial('/draining');
    const ticking = api.client(peer, api.api).ticks().subscribe();
    await until(async () => (await facts()).ticking === 1);
    await ask('/close?mux=/draining');
    await until(() => peer.status.state === 'draining');
    const late = await knock('/draining');
    assert.equal(late.status, 503);
    assert.equal(late.headers['retry-after'], '1');
    assert.equal((await facts()).ticking, 1);
    ticking.unsubscribe();
    await ask('/closed?mux=/draining');
    await peer.closed;
    assert.equal((await facts('/draining')).shown, 'MuxServer { peers: 0, draining }');

    function knock(path) {
      return dial.raw(path, { 'Sec-WebSocket-Protocol': 'mux.v1.json' });
    }
  },
  'refuses: 400, 401, 403, 429, 500, 503': async ({ dial, facts, name }) => {
    const before = (await facts('/json')).stats.refusals;
    const offer = { 'Sec-WebSocket-Protocol': 'mux.v1.json' };
    const statusOf = async (path, headers) => (await dial.raw(path, headers)).status;
    assert.equal(await statusOf('/json', { 'Sec-WebSocket-Protocol': 'mux.v1.msgpack' }), 400);
    assert.equal(await statusOf('/json', {}), 400);
    assert.equal(await statusOf('/json', { ...offer, Origin: 'https://evil.example' }), 403);
    assert.equal(await statusOf('/json', { ...offer, Origin: `http://${dial.host}` }), 101);
    await assert.rejects(dial('/verified').opened, { name: 'ConnectError', status: 401 });
    await assert.rejects(dial('/verified', { headers: { authorization: 'late' } }).opened, { name: 'ConnectError', status: 500 });
    const busy = await dial.raw('/verified', { ...offer, authorization: 'busy' });
    assert.deepEqual([busy.status, busy.headers['retry-after']], [429, '5']);
    const first = dial('/limited');
    await first.opened;
    assert.equal(await statusOf('/limited', offer), 503);
    await first.close();
    await until(async () => (await facts('/limited')).stats.connections.open === 0);
    const second = dial('/limited');
    await second.opened;
    await second.close();
    const { refusals } = (await facts('/json')).stats;
    assert.deepEqual([refusals[400] - (before[400] ?? 0), refusals[403] - (before[403] ?? 0)], [2, 1]);
    if (name !== 'crossws') assert.equal((await fetch(`http://${dial.host}/json`)).status, 426);
  },
  '`verify` fills the context': async ({ dial, api }) => {
    const peer = dial('/verified', { headers: { authorization: 'ann' } });
    const { user, address } = await api.client(peer, api.api).context.promise();
    await peer.close();
    assert.equal(user, 'ann');
    return address === null ? 'yes, without an address' : 'yes, with an address';
  },
  'a page on loopback': async ({ dial }) => {
    const { status } = await dial.raw('/json', { 'Sec-WebSocket-Protocol': 'mux.v1.json', Origin: 'http://localhost:5173' });
    assert.ok(status === 101 || status === 403, String(status));
    return status === 101 ? 'may connect' : 'needs `origins`';
  },
  'bad options': async ({ ask }) => {
    const thrown = await ask('/bad');
    assert.match(thrown.none, /^TypeError: options: expected an object, got undefined/);
    assert.match(thrown.misspelt, /^TypeError: .*handelr.*did you mean 'handler'/s);
    assert.match(thrown.listening, /^TypeError: port: expected none, because \S+ /);
    assert.match(thrown['a handler of text'], /^TypeError: handler: expected a function, got 'echo'/);
    assert.match(thrown['an origin without its scheme'], /^TypeError: origins\[0\]: expected a whole origin/);
    assert.match(thrown['a codec that is none'], /^TypeError: .*codec/);
  },
  'a client in the runtime itself': async ({ ask, url, name }) => {
    if (!['bun', 'deno'].includes(name)) return '–';
    assert.deepEqual(await ask(`/self?url=${url}`), [144, 144]);
    return 'yes';
  },
};

/** Runs all rows against a server. Returns the cell of each row. */
export async function runRows(client, name, port, directory) {
  const host = `127.0.0.1:${port}`;
  const url = `ws://${host}`;
  const ask = async (path) => (await fetch(`http://${host}${path}`)).json();
  const facts = (mux = '') => ask(`/facts?mux=${mux}`);
  const dial = Object.assign((path, options) => client.connect(`${url}${path}`, options), {
    host,
    raw: (path, headers) => handshake(port, path, headers),
  });
  const shared = { name, url, directory, ask, facts, dial, api: client };
  const column = {};
  for (const [title, row] of Object.entries(CALLS)) {
    for (const path of ['/json', '/msgpack']) {
      const peer = dial(path, path === '/msgpack' ? { codec: new client.MsgpackCodec() } : {});
      await peer.opened;
      await row({ ...shared, path, peer, calls: client.client(peer, client.api) });
      await peer.close();
      await until(async () => (await facts(path)).stats.connections.open === 0);
    }
    note(title, 'yes');
  }
  for (const [title, row] of Object.entries(SERVERS)) note(title, (await row(shared)) ?? 'yes');
  return column;

  function note(title, cell) {
    column[title] = cell;
    console.log(`  ok  ${title}: ${cell}`);
  }
}

/** Sends a handshake. Returns the status and the headers of its answer. */
async function handshake(port, path, headers) {
  const key = Buffer.alloc(16).toString('base64');
  const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': key };
  const asking = send({ host: '127.0.0.1', port, path, headers: { ...upgrade, ...headers }, agent: false }).end();
  const answered = await Promise.race([once(asking, 'response'), once(asking, 'upgrade')]);
  asking.destroy();
  const [{ statusCode, headers: answer }] = answered;
  return { status: statusCode, headers: answer };
}

async function until(condition) {
  const end = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    assert.ok(performance.now() < end, `expected in ${PATIENCE_MS} ms: ${condition}`);
    await pause(10);
  }
}

/** Waits until a number stays the same in twenty looks. */
async function settled(look) {
  let [last, same] = [await look(), 0];
  await until(async () => {
    const now = await look();
    same = now === last ? same + 1 : 0;
    last = now;
    await pause(25);
    return same === 20;
  });
  return last;
}
