import { afterEach, describe, expect, it } from '@jest/globals';
import { interval, lastValueFrom, merge, takeUntil, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { connect } from '../../src/node.js';
import type { NodeConnectOptions, ServeOptions } from '../../src/node.js';
import { ConnectError } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { tableBelow, writeTable } from '../docs/markdown.js';
import { collectLogs } from '../support/peer/logs.js';
import { Balancer } from './balancer.js';
import { PRODUCTS, chosen } from './products.js';
import type { Product } from './products.js';
import { BUSY_SECONDS, CODECS, TICK_MS, TOKEN, Upstream, closeCode } from './upstream.js';
import type { Job } from './upstream.js';
import { dialing } from './ways.js';

const PAGE = ['docs/guide/proxies.md', 'Needs and limits of each proxy'] as const;
/** The host that a page would name. One of the loopback would pass the origin check, whatever the proxy makes of it. */
const HOST = 'mux.example.org';
const MIB = 1024 * 1024;
const BULK_BYTES = 14 * MIB;
const IDLE_SECONDS = 3;
/** Pings come well before the idle limit, as the defaults of 20 s do before 60 s. */
const PINGING = { idleMs: 600, timeoutMs: 30_000 };
const LONG = process.env['LONG'] === '1';

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

collectLogs();

/** A server behind a product, and how its clients dial. */
class Rig {
  private constructor(
    readonly balancer: Balancer,
    private server: Upstream,
    private readonly way: Awaited<ReturnType<typeof dialing>>,
  ) {}

  static async start(
    product: Product,
    change?: (text: string) => string,
    idle?: number,
    keepalive?: ServeOptions['keepalive'],
  ): Promise<Rig> {
    const server = await Upstream.start(0, keepalive);
    const balancer = await Balancer.start(product, [server.port], change, idle);
    const way = await dialing(product.way ?? 'http', balancer, server.port);
    const rig = new Rig(balancer, server, way);
    ends.push(
      () => rig.server.stop(),
      () => balancer.stop(),
      () => {
        way.end();
      },
    );
    return rig;
  }

  get upstream(): Upstream {
    return this.server;
  }

  peer(path = '/json', options: NodeConnectOptions = {}): Peer {
    const codec = CODECS[path.slice(1)] ?? CODECS['json'];
    const peer = connect(this.way.url + path, {
      codec,
      keepalive: false,
      ...this.way.options,
      ...options,
      headers: { Host: HOST, Origin: `http://${HOST}`, ...TOKEN, ...options.headers },
    });
    peer.opened.catch(() => undefined);
    ends.push(() => peer.close());
    return peer;
  }

  async opened(path = '/json', options: NodeConnectOptions = {}): Promise<Peer> {
    const peer = this.peer(path, options);
    await peer.opened;
    return peer;
  }

  /** The outcome of one dial: 101, or the status in place of it; `null` if the proxy closed the connection without one. */
  async dial(options?: NodeConnectOptions): Promise<number | null> {
    const peer = this.peer('/json', options);
    const outcome = await peer.opened.then(
      () => 101,
      (error: unknown) => (error instanceof ConnectError ? error.status : null),
    );
    await peer.close();
    return outcome;
  }

  /** Stops the server, calls `meanwhile`, and starts another one on its port. */
  async away<T>(meanwhile: () => Promise<T>): Promise<T> {
    const { port } = this.server;
    await this.server.stop();
    const seen = await meanwhile();
    this.server = await Upstream.start(port);
    return seen;
  }
}

const request = (peer: Peer, job: Job): Promise<unknown> => peer.request(job, { timeoutMs: 120_000 });

/** Makes small calls one after the other until `done`, and returns how many were answered. */
async function callsUntil(peer: Peer, done: Promise<unknown>): Promise<number> {
  let going = true;
  const stopped = done.finally(() => (going = false));
  let answered = 0;
  while (going) {
    expect(await request(peer, { op: 'measure', text: 'small' })).toBe(5);
    answered++;
  }
  await stopped;
  return answered;
}

/** Traffic in one direction only, as long as it has a subscriber. */
const TALKS = {
  server: (peer: Peer): Observable<unknown> => peer.open$({ op: 'ticks' } satisfies Job),
  client: (peer: Peer): Observable<unknown> => peer.open$({ op: 'count' } satisfies Job, { input: interval(TICK_MS) }),
};

/** The cell of a row for an HTTP status. */
const shown = (status: number | null): string => (status === null ? 'closes the connection' : String(status));

async function unlimitedIdle(rig: Rig): Promise<string> {
  const silent = await rig.opened();
  await lastValueFrom(timer(IDLE_SECONDS * 1_000));
  await request(silent, { op: 'measure', text: '' });
  return 'none';
}

/** Says what keeps a connection from one idle limit, and the close code of a silent one. */
async function idleCell(product: Product, { setting, set }: Product['idle'][number]): Promise<string> {
  const rig = await Rig.start(product, (text) => set?.(text, IDLE_SECONDS) ?? text, IDLE_SECONDS);
  const pinging = await rig.opened('/json', { keepalive: PINGING });
  const talks = await Promise.all([TALKS.server, TALKS.client].map(async (talk) => ({ talk, peer: await rig.opened() })));
  const silent = await rig.opened();
  const fed = talks.map(async ({ talk, peer }) => {
    const cut = closeCode(peer).then(() => false);
    const talking = talk(peer).subscribe({ error: () => undefined });
    await closeCode(silent);
    const lives = await Promise.race([cut, lastValueFrom(timer(IDLE_SECONDS * 1_000)).then(() => true)]);
    talking.unsubscribe();
    return lives;
  });
  const code = await closeCode(silent);
  const [byServer = false, byClient = false] = await Promise.all(fed);
  // The pings of the defaults keep a silent client.
  expect(await request(pinging, { op: 'measure', text: 'alive' })).toBe(5);
  return `${setting}, ${feeding(byServer, byClient)}; ${code}`;
}

/** Says what keeps a connection from the idle limit. */
function feeding(byServer: boolean, byClient: boolean): string {
  if (byServer && byClient) return 'fed by either direction';
  if (!byServer && !byClient) return 'of each direction by itself';
  return byServer ? 'fed by the server alone' : 'fed by the client alone';
}

async function reloadCell(product: Product, rig: Rig): Promise<string> {
  const peer = await rig.opened();
  const accepted = rig.upstream.peer;
  const cut = Promise.all([closeCode(peer), closeCode(accepted)]);
  const next = await Upstream.start();
  ends.push(() => next.stop());
  let lives = true;
  const ticking = peer.open$({ op: 'ticks' } satisfies Job).subscribe({ error: () => (lives = false) });
  rig.balancer.reload([next.port]);
  // A client of a forward proxy names its server itself.
  const { reached } = product.way === 'connect' ? rig.upstream : next;
  const { dials } = reached;
  for (let tries = 1; (await rig.dial()) !== 101 || reached.dials === dials; tries++) {
    await lastValueFrom(timer(100));
    // HAProxy loses a signal that arrives within 100 ms of its start.
    if (tries % 20 === 0) rig.balancer.reload([next.port]);
  }
  await lastValueFrom(timer(2_400));
  ticking.unsubscribe();
  const codes = lives ? null : await cut;
  return codes === null ? 'open sockets live on' : `**cuts open sockets**: client ${codes[0]}, server ${codes[1]}`;
}

describe.each(chosen())('one server behind $name', (product) => {
  const cells: Record<string, string> = {};

  it('Both subprotocols pass, and small calls are answered beside 14 MiB in each direction', async () => {
    const rig = await Rig.start(product);
    cells['version'] = rig.balancer.version;
    for (const codec of Object.keys(CODECS)) {
      const peer = await rig.opened(`/${codec}`);
      const text = 'x'.repeat(BULK_BYTES);
      const bulk = Promise.all([request(peer, { op: 'measure', text }), request(peer, { op: 'fetch', length: BULK_BYTES })]);
      const beside = await callsUntil(peer, bulk);
      const [measured, fetched] = await bulk;
      expect([measured, String(fetched).length]).toEqual([BULK_BYTES, BULK_BYTES]);
      expect(beside).toBeGreaterThan(2);
      await peer.close();
    }
  });

  it('The page of a proxy gets in, and not without the lines that the table names', async () => {
    const whole = await Rig.start(product);
    expect(await whole.dial()).toBe(101);
    const without: string[] = [];
    for (const needed of product.needs) {
      const [line, instead] = typeof needed === 'string' ? [needed, ''] : needed;
      const rig = await Rig.start(product, (text) => {
        expect(text).toContain(line);
        return text.replace(line, instead);
      });
      without.push(`\`${line.trim()}\` (else ${shown(await rig.dial())})`);
    }
    cells['needs'] = without.length === 0 ? 'nothing' : without.join('<br>');
  });

  it('A silent socket that pings lives beyond the idle limit, and one without pings is cut', async () => {
    const seen: string[] = [];
    for (const limit of product.idle) seen.push(await idleCell(product, limit));
    cells['idle'] = seen.length === 0 ? await unlimitedIdle(await Rig.start(product)) : seen.join('<br>');
  });

  it('Clients see a status while the server is away, and are back after it', async () => {
    const rig = await Rig.start(product);
    const client = await rig.opened('/json', { reconnect: { maxAttempts: Infinity } });
    await request(client, { op: 'measure', text: '' });
    const status = await rig.away(() => rig.dial());
    const first = await rig.dial();
    cells['away'] = shown(status) + (first === 101 ? '' : ', and for some dials after it');
    expect(await client.request({ op: 'measure', text: 'back' } satisfies Job, { retry: 'safe', timeoutMs: 60_000 })).toBe(4);
  });

  it('Both sides see the close code of the other', async () => {
    const rig = await Rig.start(product);
    const leaving = await rig.opened();
    const atServer = closeCode(rig.upstream.peer);
    await leaving.close();
    const first = await atServer;
    const left = await rig.opened();
    const atClient = closeCode(left);
    await rig.upstream.peer.close();
    expect([first, await atClient]).toEqual([1000, 1000]);
  });

  it('A refusal and its Retry-After reach the dialer', async () => {
    const rig = await Rig.start(product);
    expect(await rig.dial({ headers: { Authorization: 'Bearer other' } })).toBe(401);
    const statuses: unknown[] = [];
    const busy = rig.peer('/busy', { reconnect: { shouldRetry: ({ status }) => statuses.push(status) > 0 } });
    const delayMs = await new Promise<number>((resolve) => {
      busy.status$.subscribe((status) => {
        if (status.state === 'waiting') resolve(status.delayMs);
      });
    });
    expect(statuses).toEqual([503]);
    expect(delayMs).toBeGreaterThanOrEqual(BUSY_SECONDS * 1_000);
  });

  it('A reload does what the table says', async () => {
    cells['reload'] = await reloadCell(product, await Rig.start(product));
  });

  // LONG=1 adds it: the defaults against the idle limit of the page.
  if (LONG)
    it('With the default keepalive at both ends, clients that are silent, only listen or only talk for 90 s are still answered', async () => {
      const rig = await Rig.start(product, undefined, undefined, {});
      const open = (): Promise<Peer> => rig.opened('/json', { keepalive: undefined });
      const [silent, listening, talking] = await Promise.all([open(), open(), open()]);
      await lastValueFrom(merge(TALKS.server(listening), TALKS.client(talking)).pipe(takeUntil(timer(90_000))), { defaultValue: null });
      for (const peer of [silent, listening, talking]) expect(await request(peer, { op: 'measure', text: 'alive' })).toBe(5);
    }, 200_000);

  it('The table of the page has what was seen', () => {
    const { version = '', needs = '', idle = '', away = '', reload = '' } = cells;
    const heading = PRODUCTS.find(({ page }) => page === product.page)?.name ?? '';
    const anchor = heading.toLowerCase().replaceAll(',', '').replaceAll(' ', '-');
    const row = [`[${product.name}](#${anchor})`, version, needs, idle, away, reload];
    const rows = tableBelow(...PAGE);
    if (process.env['TABLES'] === 'write')
      writeTable(
        ...PAGE,
        rows.map((each) => (each[0] === row[0] ? row : each)),
      );
    const written = tableBelow(...PAGE).find(([name]) => name === row[0]) ?? [];
    // Another version of the proxy passes, too, if it does the same.
    expect(written.map((cell, nth) => (nth === 1 ? version : cell))).toEqual(row);
  });
});
