// `npm run bench:deflate` measures what permessage-deflate saves and costs a server: bytes on the wire and CPU of a feed of small JSON
// messages, by turns, and the memory of idle connections.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lastValueFrom } from 'rxjs';
import type { Peer } from 'rxmux';
import { connect, serve } from 'rxmux/node';
import type { NodeConnectOptions } from 'rxmux/node';
import { fromCommandLine, readQuick } from './harness/command-line.js';
import { ROOT } from './harness/place.js';
import { median } from './harness/statistics.js';
import { machineLine } from './report/machine-line.js';
import { environment } from './report/results.js';
import { figure, markdown } from './report/table.js';
import { writeBetween } from './report/write.js';

type Deflate = NodeConnectOptions['perMessageDeflate'];

const CASES: readonly (readonly [title: string, perMessageDeflate: Deflate])[] = [
  ['none', false],
  ['`true`', true],
  ['`{ windowBits: 15 }`', { windowBits: 15 }],
  ['`{ windowBits: 9 }`', { windowBits: 9 }],
  ['`{ contextTakeover: false, thresholdBytes: 0 }`', { contextTakeover: false, thresholdBytes: 0 }],
];
const PAGE = join(ROOT, 'docs/guide/servers.md');
const DIALS_AT_ONCE = 50;
const MIB = 1024 * 1024;

/** Facts about a server process so far. */
interface Facts {
  readonly wireBytes: number;
  readonly cpuUs: number;
  readonly rssBytes: number;
}

async function measure(isQuick: boolean): Promise<void> {
  const [rounds, messages, connections] = isQuick ? [1, 500, 100] : [7, 1_000, 1_000];
  const feeds = await Promise.all(
    CASES.map(async ([title, deflate]) => ({ title, feed: await Feed.start(deflate), rounds: [] as Facts[] })),
  );
  for (const { feed } of feeds) await feed.follow(messages);
  for (let round = 0; round < rounds; round++) for (const each of feeds) each.rounds.push(await each.feed.follow(messages));
  const bytes = feeds.map((each) => median(each.rounds.map(({ wireBytes }) => wireBytes)) / messages);
  const rows: string[][] = [];
  for (const [nth, { title, feed, rounds: measured }] of feeds.entries()) {
    const [own = NaN, plain = NaN] = [bytes[nth], bytes[0]];
    feed.stop();
    rows.push([
      title,
      figure(own),
      nth === 0 ? '' : `${Math.round(100 * (1 - own / plain))} %`,
      figure(median(measured.map(({ cpuUs }) => cpuUs)) / messages),
      figure((await idleBytes(CASES[nth]?.[1], connections)) / MIB),
    ]);
  }
  const titles = [
    '`perMessageDeflate` at both ends',
    'bytes of a message',
    'saved',
    'CPU of a message, µs',
    `${connections} connections, MiB`,
  ];
  const text = `\`npm run bench:deflate\` writes this table. A server pushes ${messages} JSON messages in each of ${rounds} rounds by turns, and sends each message in its own turn. The table counts bytes on the wire, and the server's CPU with zlib's threads. Each idle connection has made one call.

${markdown(titles, rows)}

${machineLine(environment())}.`;
  console.log(text);
  if (!isQuick) await writeBetween(PAGE, 'deflate', text);
  process.exit();
}

/** A server process, and one client that follows its feed. */
class Feed {
  private constructor(
    readonly server: ChildProcess,
    readonly url: string,
    private readonly deflate: Deflate,
    private readonly peer: Peer,
  ) {}

  static async start(deflate: Deflate): Promise<Feed> {
    const server = fork(fileURLToPath(import.meta.url), [JSON.stringify(deflate)], { execArgv: ['--expose-gc'] });
    const [port] = (await once(server, 'message')) as [number];
    const url = `ws://127.0.0.1:${port}`;
    const peer = connect(url, { perMessageDeflate: deflate, keepalive: false });
    await peer.opened;
    return new Feed(server, url, deflate, peer);
  }

  /** Receives messages, and returns what they have cost the server. */
  async follow(messages: number): Promise<Facts> {
    const before = await this.facts();
    await lastValueFrom(this.peer.open$(messages));
    const after = await this.facts();
    return {
      wireBytes: after.wireBytes - before.wireBytes,
      cpuUs: after.cpuUs - before.cpuUs,
      rssBytes: after.rssBytes - before.rssBytes,
    };
  }

  /** Opens connections that make one call each. */
  async open(count: number): Promise<void> {
    for (let left = count; left > 0; left -= DIALS_AT_ONCE) {
      const peers = Array.from({ length: Math.min(left, DIALS_AT_ONCE) }, () =>
        connect(this.url, { perMessageDeflate: this.deflate, keepalive: false }),
      );
      await Promise.all(peers.map((peer) => peer.request('call')));
    }
  }

  async facts(): Promise<Facts> {
    this.server.send('facts');
    const [facts] = (await once(this.server, 'message')) as [Facts];
    return facts;
  }

  stop(): void {
    this.server.kill('SIGKILL');
  }
}

/** The memory that idle connections take of a new server. */
async function idleBytes(deflate: Deflate, connections: number): Promise<number> {
  const feed = await Feed.start(deflate);
  await feed.open(DIALS_AT_ONCE);
  const before = await feed.facts();
  await feed.open(connections);
  const after = await feed.facts();
  feed.stop();
  return after.rssBytes - before.rssBytes;
}

async function serveFeed(perMessageDeflate: Deflate): Promise<void> {
  const sockets: Socket[] = [];
  const server = serve({
    port: 0,
    host: '127.0.0.1',
    keepalive: false,
    perMessageDeflate,
    onPeer: (_, request) => {
      if (request !== null) sockets.push(request.socket);
    },
    onStream: async (asked, stream) => {
      if (typeof asked === 'number') await stream.sendAll(items(asked));
      else await stream.reply(asked);
    },
  });
  process.on('message', () => {
    globalThis.gc?.();
    const { user, system } = process.cpuUsage();
    const wireBytes = sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
    process.send?.({ wireBytes, cpuUs: user + system, rssBytes: process.memoryUsage.rss() } satisfies Facts);
  });
  process.on('disconnect', () => process.exit());
  process.send?.((await server.listening).port);
}

/** Items of a feed, each in a turn of its own. The numbers vary as prices do. */
async function* items(count: number): AsyncGenerator {
  for (let id = 0; id < count; id++) {
    await setImmediate();
    yield { id, name: `item ${id}`, price: ((id * 7_919) % 10_007) / 100, tags: ['a', 'b'].slice(0, 1 + (id % 2)) };
  }
}

/** The program runs many times: each forked process is the server of one case. */
if (process.send === undefined) await measure(fromCommandLine(readQuick));
else await serveFeed(JSON.parse(String(process.argv[2])) as Deflate);
