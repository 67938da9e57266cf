import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { firstValueFrom, Subject } from 'rxjs';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { JsonCodec } from '../../src/index.js';
import type { CloseReason, Peer } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { selfSigned } from '../support/socket/certificate.js';
import { Addresses, SlowLine } from '../support/socket/slow-line.js';

const KB = 1_000;
/** Longer than any transfer here. */
const PATIENT_DRAIN_MS = 300_000;
const SHORT_DRAIN_MS = 60_000;

type Way = 'download' | 'upload';
type Closer = 'nobody' | 'the server' | 'the client';

/** A transfer over a slow line, and who closes while it is under way. */
interface Case {
  /** Kilobytes a second, each way. */
  readonly rate: number;
  readonly kilobytes: number;
  readonly way: Way;
  readonly closer: Closer;
  /** `call`: a stream lives until the end of the transfer. `notify`: only the close waits for it. Default `call`. */
  readonly as?: 'call' | 'notify';
  /** Size of the kernel's buffers on either side. Default `large`: TCP's own. */
  readonly buffers?: 'large' | 'small';
  readonly tls?: true;
  readonly codec?: 'msgpack';
  /** The receiver sends as much in a notification of its own, so that its answers and pongs come late. */
  readonly back?: true;
  /** The line carries nothing any more once the transfer is under way. */
  readonly dies?: true;
}

/** The result of a transfer. */
interface Outcome {
  /** Bytes, or why there are none. */
  readonly arrived: number | string;
  /** Bytes that came back, where the test waits for them. */
  readonly back?: number;
  readonly client: string;
  readonly server: string;
}

const CERTIFICATE = selfSigned();
const addresses = new Addresses();
const endOf = ({ code, reason }: CloseReason): string => `${code} ${reason}`.trim();
const sizeOf = (payload: unknown): number => (typeof payload === 'string' ? payload.length : (payload as ArrayBuffer).byteLength);

/** Two peers with the default options at the two ends of a slow line. */
class Transfer {
  readonly #load: string | Uint8Array;
  readonly #arrived$ = new Subject<number | string>();
  readonly #back$ = new Subject<number>();

  private constructor(
    private readonly row: Case,
    private readonly http: ReturnType<typeof createServer>,
    private readonly server: MuxServer,
    private readonly line: SlowLine,
    private readonly client: Peer,
    private readonly acceptor: Peer,
  ) {
    const bytes = row.kilobytes * KB;
    this.#load = row.codec === 'msgpack' ? new Uint8Array(bytes) : 'x'.repeat(bytes);
    for (const peer of [client, acceptor])
      peer.onStream(async (payload, stream) => {
        if (stream.headers['back'] === true) {
          this.#back$.next(sizeOf(payload));
          return;
        }
        if (payload === 'download') return stream.reply(this.#load);
        this.#arrived$.next(sizeOf(payload === 'upload' ? await firstValueFrom(stream) : payload));
        return stream.reply(null);
      });
  }

  static async prepare(row: Case): Promise<Transfer> {
    const { buffers = 'large' } = row;
    const codec = row.codec === 'msgpack' ? new MsgpackCodec() : new JsonCodec();
    const http = row.tls === undefined ? createServer() : createTlsServer(CERTIFICATE);
    const server = serve({ server: http, codec });
    http.listen(addresses.next(buffers));
    await server.listening;
    const bound = http.address();
    const target = typeof bound === 'string' ? { path: bound } : { host: '127.0.0.1', port: (bound as AddressInfo).port };
    const at = addresses.next(buffers);
    const line = await SlowLine.listen(at, target, row.rate * KB);
    const scheme = row.tls === undefined ? 'ws' : 'wss';
    const url = 'path' in at ? `ws+unix:${at.path}:/` : `${scheme}://127.0.0.1:${line.port}`;
    const accepted = firstValueFrom(server.peers$);
    const client = connect(url, { codec, reconnect: false, tls: { ca: CERTIFICATE.cert } });
    const [acceptor] = await Promise.all([accepted, client.opened]);
    return new Transfer(row, http, server, line, client, acceptor);
  }

  async run(): Promise<Outcome> {
    const { client, acceptor, line } = this;
    const { way, closer, as = 'call', back, dies } = this.row;
    const [sender, receiver] = way === 'download' ? [acceptor, client] : [client, acceptor];
    const arrived = firstValueFrom(this.#arrived$);
    const closed = Promise.all([client.closed, acceptor.closed]);
    const underWay = new Promise<void>((resolve) => {
      receiver.onFrame((direction, { type }) => {
        if (direction === 'rx' && (type === 'open' || type === 'data')) resolve();
      });
    });
    const cameBack = back === true && closer === 'nobody' ? firstValueFrom(this.#back$) : undefined;
    if (back === true) receiver.notify(this.#load, { headers: { back } });
    let called: Promise<unknown> = Promise.resolve();
    if (as === 'notify') sender.notify(this.#load);
    else {
      called = this.#call();
      await underWay;
    }
    if (dies === true) line.freeze();
    const callDrainMs = way === 'download' && closer === 'the server' ? SHORT_DRAIN_MS : PATIENT_DRAIN_MS;
    const drainMs = as === 'notify' || dies === true ? 0 : callDrainMs;
    if (closer === 'the server') void this.server.close({ drainMs });
    if (closer === 'the client') void client.close({ drainMs });
    void closed.then(() => {
      this.#arrived$.next('lost');
    });
    const size = await arrived;
    await called;
    const sizeBack = await cameBack;
    if (closer === 'nobody') void client.close();
    const [near, far] = await closed;
    await this.server.close();
    await line.close();
    this.http.close();
    await once(this.http, 'close');
    return { arrived: size, ...(sizeBack === undefined ? {} : { back: sizeBack }), client: endOf(near), server: endOf(far) };
  }

  async #call(): Promise<void> {
    const { way } = this.row;
    const stream = this.client.open(way);
    try {
      const [answer] = await Promise.all([firstValueFrom(stream), way === 'upload' ? stream.sendAll([this.#load]) : null]);
      if (way === 'download') this.#arrived$.next(sizeOf(answer));
    } catch (error) {
      this.#arrived$.next(String(error));
    }
  }
}

const CLOSERS: readonly Closer[] = ['nobody', 'the server', 'the client'];
const WAYS: readonly Way[] = ['download', 'upload'];

const CASES: readonly Case[] = [
  ...[
    { rate: 8, kilobytes: 1_200 },
    { rate: 10, kilobytes: 600 },
    { rate: 15, kilobytes: 600 },
    { rate: 25, kilobytes: 1_000 },
    { rate: 100, kilobytes: 3_000 },
    { rate: 200, kilobytes: 3_000 },
    { rate: 400, kilobytes: 8_000 },
    { rate: 800, kilobytes: 14_000 },
  ].flatMap((line) => WAYS.flatMap((way) => CLOSERS.map((closer) => ({ ...line, way, closer })))),
  ...[
    { rate: 8, kilobytes: 1_000 },
    { rate: 100, kilobytes: 3_000 },
  ].flatMap((line) =>
    WAYS.flatMap((way) =>
      CLOSERS.flatMap((closer): Case[] => [
        { ...line, way, closer, buffers: 'small' },
        { ...line, way, closer, tls: true },
        { ...line, way, closer, codec: 'msgpack' },
        { ...line, way, closer, back: true },
      ]),
    ),
  ),
  ...[
    { rate: 8, kilobytes: 1_000 },
    { rate: 400, kilobytes: 1_000 },
    { rate: 800, kilobytes: 10_000 },
  ].flatMap((line) =>
    WAYS.flatMap((way): Case[] => {
      const notify = { ...line, way, closer: way === 'download' ? 'the server' : 'the client', as: 'notify' } as const;
      return [notify, { ...notify, buffers: 'small' }, { ...notify, tls: true }, { ...notify, back: true }];
    }),
  ),
];

const DEATHS: readonly Case[] = WAYS.flatMap((way) =>
  CLOSERS.map((closer) => ({ rate: 800, kilobytes: 14_000, way, closer, dies: true as const })),
);

function titleOf({ rate, kilobytes, way, closer, as = 'call', buffers = 'large', tls, codec, back }: Case): string {
  const line = `${rate} kB/s, ${buffers} buffers${tls === true ? ', TLS' : ''}`;
  const size = `${kilobytes} kB${back === true ? ' each way' : ''}`;
  return `${size} (${way}, ${as}, ${codec ?? 'json'}) at ${line} while ${closer} closes`;
}

describe('a slow line between real sockets, with the default options', () => {
  const outcomes = new Map<Case, Promise<Outcome>>();

  // All lines are slow at the same time.
  beforeAll(async () => {
    for (const row of [...CASES, ...DEATHS]) {
      const transfer = await Transfer.prepare(row);
      outcomes.set(row, transfer.run());
    }
  });

  afterAll(() => {
    addresses.dispose();
  });

  it.each(CASES.map((row) => [titleOf(row), row] as const))(
    'The line brings everything: %s',
    async (_title, row) => {
      const bytes = row.kilobytes * KB;
      const back = row.back === true && row.closer === 'nobody' ? { back: bytes } : {};
      expect(await outcomes.get(row)).toEqual({ arrived: bytes, ...back, client: '1000', server: '1000' });
    },
    400_000,
  );

  it.each(DEATHS.map((row) => [titleOf(row), row] as const))(
    'Both sides notice that the line died: %s',
    async (_title, row) => {
      const outcome = await outcomes.get(row);
      expect(outcome).toMatchObject({ client: expect.stringMatching(/^1006/), server: expect.stringMatching(/^1006/) });
    },
    400_000,
  );
});
