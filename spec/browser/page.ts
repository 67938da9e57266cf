import { debounceTime, filter, firstValueFrom, lastValueFrom, map, range, take, toArray } from 'rxjs';
import { connect, isMuxError, JsonCodec, RemoteError } from '../../src/index.js';
import type { ConnectOptions, Peer, PeerStatus, Stream } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { RichCodec } from '../../src/rich.js';
import { webSocketStream } from '../../src/websocketstream.js';

const codecs = { json: new JsonCodec(), msgpack: new MsgpackCodec(), rich: new RichCodec() };

export type CodecName = keyof typeof codecs;

/** The part of native Observables that this page uses, in the form of their specification. */
interface Native<T> {
  subscribe(observer?: { next?: (value: T) => void } | ((value: T) => void), options?: { signal?: AbortSignal }): void;
  take(count: number): Native<T>;
  map<R>(project: (value: T) => R): Native<R>;
}
interface Whenever {
  when(type: string): Native<Event>;
}

const KIB = 1024;

/** The socket that the address of the page, or of its worker, asks for. */
export type SocketName = 'WebSocket' | 'WebSocketStream';

const OVER: Readonly<Record<string, Pick<ConnectOptions, 'socket'>>> = { '?WebSocketStream': { socket: webSocketStream() } };

function dial(codec: CodecName, path = `/${codec}`, options: ConnectOptions = {}): Peer {
  return connect(`ws://${location.host}${path}`, { codec: codecs[codec], keepalive: false, ...OVER[location.search], ...options });
}

async function over<T>(codec: CodecName, use: (peer: Peer) => Promise<T> | T, options?: ConnectOptions, path?: string): Promise<T> {
  const peer = dial(codec, path, options);
  try {
    return await use(peer);
  } finally {
    await peer.close();
  }
}

/** Counts the sockets of a class of the platform. */
const made: Record<string, number> = {};
for (const name of ['WebSocket', 'WebSocketStream']) {
  const platform = globalThis as unknown as Record<string, new (...args: readonly unknown[]) => object>;
  const of = platform[name];
  if (of === undefined) continue;
  platform[name] = class extends of {
    constructor(...args: readonly unknown[]) {
      super(...args);
      made[name] = (made[name] ?? 0) + 1;
    }
  };
}

const LONG_DELAYS = { minDelayMs: 1e6, maxDelayMs: 1e6 };
let waiting: Peer | null = null;

function whenever(peer: Peer, state: PeerStatus['state']): Promise<PeerStatus> {
  return firstValueFrom(peer.status$.pipe(filter((status) => status.state === state)));
}

function isCount(values: readonly number[], count: number): boolean {
  return values.length === count && values.every((value, n) => value === n);
}

/** The operations that run in the page. Each dials by itself, and returns a value that can leave the page. */
const operations = {
  request: (codec: CodecName) => over(codec, (peer) => peer.request({ op: 'echo', value: { n: 1, text: 'é😀', list: [null, true] } })),

  headers: (codec: CodecName) =>
    over(codec, async (peer) => {
      const stream = peer.open({ op: 'headers' }, { headers: { token: 'x' }, end: true });
      return { value: await lastValueFrom(stream), replyHeaders: stream.replyHeaders, trailers: stream.trailers };
    }),

  serverStream: (codec: CodecName, count: number) =>
    over(codec, async (peer) => isCount(await lastValueFrom(peer.open$<number>({ op: 'count', count }).pipe(toArray())), count)),

  upload: (codec: CodecName, chunks: number) =>
    over(codec, (peer) => firstValueFrom(peer.open$({ op: 'sum' }, { input: range(0, chunks).pipe(map(() => 'x'.repeat(64 * KIB))) }))),

  /** Uploads one payload over another port, with the options of a user who sets none. */
  uploadOverPort: async (port: number, bytes: number) => {
    const peer = connect(`ws://127.0.0.1:${port}/default`, OVER[location.search]);
    const size = await lastValueFrom(peer.open$({ op: 'size', value: 'x'.repeat(bytes) }));
    return { size, closed: await peer.close() };
  },

  twoWay: (codec: CodecName) =>
    over(codec, (peer) => lastValueFrom(peer.open$<number>({ op: 'double' }, { input: [1, 2, 3] }).pipe(toArray()))),

  /** The native Observable of the browser as an input, which ends with its second value. */
  nativeInput: () =>
    over('json', async (peer) => {
      const target = new EventTarget() as EventTarget & Whenever;
      await peer.opened;
      const doubled = lastValueFrom(
        peer
          .open$<number>(
            { op: 'double' },
            {
              input: target
                .when('tick')
                .take(2)
                .map(({ type }) => type.length),
            },
          )
          .pipe(toArray()),
      );
      await peer.ping();
      for (let n = 0; n < 3; n++) target.dispatchEvent(new Event('tick'));
      return doubled;
    }),

  /** Whether values that JSON lacks come back as they were. */
  richEcho: () =>
    over('rich', async (peer) => {
      const value = {
        at: new Date(5),
        of: new Map([[1n, new Set(['a'])]]),
        raw: new Uint8Array(70_000).fill(251),
        low: undefined,
        not: NaN,
      };
      const back = await peer.request<typeof value>({ op: 'echo', value });
      return [
        back.at instanceof Date,
        back.of.get(1n)?.has('a'),
        back.raw.length,
        codecs.rich.encodePayload(back) === codecs.rich.encodePayload(value),
      ];
    }),

  notify: (codec: CodecName) =>
    over(codec, async (peer) => {
      await peer.opened;
      peer.notify({ op: 'note', value: codec });
    }),

  push: (codec: CodecName) =>
    over(codec, (peer) => {
      peer.onStream((payload, stream) => stream.reply(`seen ${String(payload)}`));
      return peer.request({ op: 'push' });
    }),

  cancel: (codec: CodecName) =>
    over(codec, async (peer) => {
      const first = await lastValueFrom(peer.open$<number>({ op: 'ticks' }).pipe(take(3), toArray()));
      return { first, cause: await peer.request({ op: 'last cause' }) };
    }),

  failure: (codec: CodecName) =>
    over(codec, async (peer) => {
      const failure: unknown = await peer.request({ op: 'throw' }).catch((error: unknown) => error);
      return failure instanceof RemoteError ? { reason: failure.reason, payload: failure.payload } : null;
    }),

  big: (codec: CodecName, length: number) =>
    over(codec, async (peer) => {
      const text = 'aé"😀'.repeat(length / 8);
      return (await peer.request<string>({ op: 'echo', value: text })) === text;
    }),

  bytes: () =>
    over('msgpack', async (peer) => {
      const bytes = Uint8Array.from({ length: 200_000 }, (_, n) => n * 7);
      const back = await peer.request<Uint8Array>({ op: 'echo', value: bytes });
      return back instanceof Uint8Array && back.length === bytes.length && back.every((byte, n) => byte === bytes[n]);
    }),

  interleaved: (codec: CodecName, streams: number, count: number) =>
    over(codec, async (peer) => {
      const all = await Promise.all(
        Array.from({ length: streams }, () => lastValueFrom(peer.open$<number>({ op: 'count', count }).pipe(toArray()))),
      );
      return all.every((values) => isCount(values, count));
    }),

  ping: (codec: CodecName) => over(codec, async (peer) => (await peer.opened).ping()),

  hello: (codec: CodecName) =>
    over(
      codec,
      async (peer) => ({ opened: (await peer.opened) === peer, answer: await peer.request({ op: 'echo', value: 1 }) }),
      { hello: () => ({ payload: 'token' }) },
      `/${codec}/greeting`,
    ),

  unread: (codec: CodecName) =>
    over(codec, async (peer) => {
      const stream: Stream = peer.open({ op: 'flood' }, { end: true });
      const cause = await stream.closed;
      return { cause, alive: await peer.request({ op: 'echo', value: 'yes' }) };
    }),

  /** Reads a stream once it has ended, or once nothing more has arrived for 2 s, which is less than `pauseMs`. */
  late: async (port: number) => {
    const peer = connect(`ws://127.0.0.1:${port}`, OVER[location.search]);
    const stream = peer.open('pieces', { end: true });
    await Promise.race([stream.closed, firstValueFrom(peer.frames$.pipe(debounceTime(2_000)))]);
    const count = await lastValueFrom(stream.pipe(toArray())).then(({ length }) => length, String);
    await peer.close();
    return count;
  },

  /** The number of sockets that this page has made, by their class. */
  sockets: () => made,

  /** Waits until the server ends the connection. */
  ended: async (codec: CodecName, path: string) => {
    const peer = dial(codec, path);
    const pending = peer.open({ op: 'never' });
    await peer.opened;
    return { reason: await peer.closed, cause: await pending.closed };
  },

  /** Loses its socket, and then receives the event that the network is back. The next dial is some minutes away. */
  wakes: async () => {
    const peer = dial('json', '/json/dying', { reconnect: LONG_DELAYS });
    await peer.opened;
    peer.notify('die');
    await whenever(peer, 'waiting');
    globalThis.dispatchEvent(new Event('online'));
    const status = await whenever(peer, 'open');
    await peer.close();
    return status;
  },

  /** Dials without a network, and waits. */
  dialsOffline: () => {
    waiting = dial('json', '/json', { reconnect: LONG_DELAYS });
    return whenever(waiting, 'waiting');
  },

  /** Waits until the waiting peer is connected. */
  isBack: async () => {
    if (waiting === null) return null;
    await whenever(waiting, 'open');
    const answer = await waiting.request({ op: 'echo', value: 'back' });
    await waiting.close();
    return answer;
  },

  /** Dials, and stays connected, with a stream that the server never ends. */
  stays: () => {
    waiting = dial('json', '/json', { reconnect: { minDelayMs: 1, maxDelayMs: 1 } });
    waiting.open({ op: 'outlasted' }).subscribe({ error: () => undefined });
    return whenever(waiting, 'open');
  },

  /** Fires events of a document that runs again, as a browser does. Returns the type of the first frame that follows each. */
  probes: () =>
    over(
      'json',
      async (peer) => {
        await peer.opened;
        const sent: string[] = [];
        peer.onFrame((direction, { type }) => direction === 'tx' && sent.push(type));
        const seen: unknown[] = [];
        for (const event of ['freeze', 'resume', 'visibilitychange']) {
          document.dispatchEvent(new Event(event));
          seen.push([event, sent.splice(0)]);
          await peer.ping();
          sent.splice(0);
        }
        return seen;
      },
      { keepalive: { idleMs: 3_600_000 } },
    ),

  /** Waits until the peer that stayed has lost its socket and has another. */
  hasReconnected: async () => {
    if (waiting === null) return null;
    const status = await firstValueFrom(waiting.status$.pipe(filter((now) => now.state === 'open' && now.reconnects > 0)));
    const answer = await waiting.request({ op: 'echo', value: 'back' });
    await waiting.close();
    return { status, answer };
  },

  close: async (codec: CodecName) => {
    const peer = dial(codec);
    await peer.request({ op: 'echo', value: 0 });
    return peer.close({ reason: 'page closed' });
  },

  refused: async (codec: CodecName, path: string) => {
    const peer = dial(codec, path);
    const failure: unknown = await peer.opened.catch((error: unknown) => error);
    if (!isMuxError(failure) || failure.code !== 'CONNECT') return null;
    return { message: failure.message, status: failure.status, closed: await peer.closed };
  },
};

export type Operations = typeof operations;

Object.assign(globalThis, { operations });

/** An operation for a worker, with the port for its outcome. */
export interface WorkerAsk {
  readonly name: keyof Operations;
  readonly args: readonly unknown[];
}

function answer({ data, ports }: MessageEvent<WorkerAsk>): void {
  const operation = operations[data.name] as (...args: readonly unknown[]) => unknown;
  void Promise.resolve(operation(...data.args))
    .catch(String)
    .then((outcome) => ports[0]?.postMessage(outcome));
}

addEventListener('message', answer);
// Each page that uses a shared worker sends it a port.
addEventListener('connect', (event) => {
  for (const port of (event as MessageEvent).ports) port.onmessage = answer;
});
