import { lastValueFrom, range, take, toArray } from 'rxjs';
import { connect, isMuxError, JsonCodec, Peer } from '../../src/index.js';
import type { CloseReason, StreamHandler } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { portSocket } from '../../src/port.js';
import { endless } from '../support/peer/endless.js';
import { connectTab } from '../../examples/shared-worker/tab.js';

const codecs = { json: new JsonCodec(), msgpack: new MsgpackCodec() };
const MIB = 1024 * 1024;

export type Codec = keyof typeof codecs;
/** Which end of the port dials. */
export type Dials = 'page' | 'other';

/** The end that the page asks to join a port. */
interface Join {
  readonly codec: Codec;
  readonly dials: Dials;
}

const handler: StreamHandler = (payload, stream) => {
  if (payload === 'count') return stream.sendAll(range(0, 2_000));
  if (payload === 'ticks') return stream.sendAll(endless().iterator);
  if (payload === 'ask back') return stream.peer.request<string>('name').then((name) => stream.reply(`asked ${name}`));
  if (payload === 'name') return stream.reply('the page');
  return stream.reply(payload);
};

function join(port: MessagePort, { codec, dials }: Join, side: Dials): Peer {
  const options = { codec: codecs[codec], onStream: handler };
  if (side === dials) return connect('ws://localhost', { ...options, socket: (_url, protocol) => portSocket(port, protocol) });
  const acceptor = new Peer(portSocket(port), { ...options, isDialer: false });
  void acceptor.serve();
  return acceptor;
}

/** Resolves with the reason of the other end. */
function reasonOf(source: Worker | Window): Promise<CloseReason> {
  return new Promise((resolve) => {
    source.addEventListener('message', ({ data }: Event & { readonly data?: unknown }) => {
      resolve(data as CloseReason);
    });
  });
}

async function calls(peer: Peer, codec: Codec): Promise<unknown> {
  const text = 'aé"😀'.repeat((4 * MIB) / 8);
  const bytes = codec === 'msgpack' ? (await peer.request<Uint8Array>(new Uint8Array(100_000).fill(7))).length : null;
  return {
    echo: await peer.request({ n: 1, list: [null, true] }),
    count: (await lastValueFrom(peer.open$<number>('count').pipe(toArray()))).length,
    firsts: await lastValueFrom(peer.open$<number>('ticks').pipe(take(3), toArray())),
    big: (await peer.request<string>(text)) === text,
    askedBack: await peer.request('ask back'),
    bytes,
  };
}

const operations = {
  /** Calls a worker over a port, both ways, and closes. */
  worker: async (given: Join) => {
    const worker = new Worker('/port-page.js', { type: 'module' });
    const { port1, port2 } = new MessageChannel();
    const reason = reasonOf(worker);
    worker.postMessage(given, [port2]);
    const peer = join(port1, given, 'page');
    const outcome = await calls(peer, given.codec);
    const closed = await peer.close({ reason: 'that is all, é' });
    return { outcome, closed, heard: await reason };
  },

  /** Calls a worker, and ends it without a word. */
  deadWorker: async (given: Join) => {
    const worker = new Worker('/port-page.js', { type: 'module' });
    const { port1, port2 } = new MessageChannel();
    worker.postMessage(given, [port2]);
    const peer = join(port1, given, 'page');
    await peer.request('hi');
    const pending = peer.open('ticks').closed;
    worker.terminate();
    return { closed: await peer.closed, cause: await pending };
  },

  /** Calls a frame, and removes it. Records what its end of the port said last. */
  removedFrame: async (given: Join) => {
    const frame = document.createElement('iframe');
    frame.src = '/port-page.html';
    document.body.append(frame);
    await new Promise((resolve) => frame.addEventListener('load', resolve));
    const { port1, port2 } = new MessageChannel();
    const said: unknown[] = [];
    port1.addEventListener('message', ({ data }) => said.push(data));
    frame.contentWindow?.postMessage(given, '*', [port2]);
    const peer = join(port1, given, 'page');
    await peer.request('hi');
    frame.remove();
    return { closed: await peer.closed, last: said.at(-1) };
  },

  /** Calls the server through the SharedWorker, and then waits for news. */
  tab: async (name: string) => {
    const peer = connectTab();
    news = new Promise((resolve) => {
      peer.onStream(resolve);
    });
    const failure: unknown = await peer.request('fail').catch((error: unknown) => error);
    return {
      count: (await lastValueFrom(peer.open$('count').pipe(toArray()))).length,
      failure: isMuxError(failure) ? failure.code : null,
      uploaded: await lastValueFrom(peer.open$(name, { input: [1, 2, 3], headers: { name } })),
    };
  },

  news: () => news,

  /** Goes on reading an endless stream through the SharedWorker. */
  endless: () => new Promise((resolve) => connectTab().open$('ticks').subscribe(resolve)),
};

let news: Promise<unknown> = Promise.resolve();

export type PortOperations = typeof operations;

Object.assign(globalThis, { operations });

addEventListener('message', ({ data, ports }: MessageEvent<Join>) => {
  for (const port of ports) void join(port, data, 'other').closed.then((reason) => (globalThis as unknown as Worker).postMessage(reason));
});
