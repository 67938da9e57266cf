// The calls that the server of each runtime answers. It imports no module of a platform.
import { finalize, interval, map, reduce } from 'rxjs';
import { JsonCodec, RefusedError, ResetCode, connect, logger } from 'rxmux';
import { answering, channel, client, contract, request, stream, upload } from 'rxmux/contract';
import { MsgpackCodec } from 'rxmux/msgpack';
import { runCases } from './conformance.js';

export const api = contract(
  {
    square: request(),
    bytes: request(),
    note: request(),
    context: request(),
    ticks: stream(),
    chunks: stream(),
    total: upload(),
    shout: channel(),
  },
  { codec: 'any' },
);

export const CHUNK = 'x'.repeat(64 * 1024);
export const MANY_CHUNKS = 1_000;

const facts = { ticking: 0, produced: 0, notes: [], lost: 0 };
const PATHS = ['/json', '/msgpack'];

/** The refusals and their errors are part of the test. */
logger.level = 'silent';

const answers = answering(api, {
  square: ({ n }) => n * n,
  bytes: ({ bytes }) => bytes,
  note: (text) => {
    facts.notes.push(text);
  },
  context: (_payload, { context }) => context,
  ticks: () => {
    facts.ticking++;
    return interval(5).pipe(finalize(() => facts.ticking--));
  },
  // An iterator is pulled, as the socket takes its values.
  chunks: function* () {
    for (let n = 0; n < MANY_CHUNKS; n++) {
      facts.produced++;
      yield CHUNK;
    }
  },
  total: (_payload, { input }) => input.pipe(reduce((sum, n) => sum + n, 0)),
  shout: (_payload, { input }) => input.pipe(map((text) => text.toUpperCase())),
});

/** The answers to the payloads that `rxmux check` agrees with its target. */
const AGREED = {
  'check.echo': (value, call) => call.reply(value),
  'check.sink': async (_value, call) => {
    let count = 0;
    await call.forEach(() => count++);
    await call.reply(count);
  },
  'check.hold': async (ms, call) => {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, ms)), call.closed]);
    if (call.cause === null) await call.reply(null);
  },
  'check.call': async (value, call) =>
    call.reply(
      await call.peer.request(value).then(
        (answer) => ['value', answer],
        (error) => ['reset', error instanceof RefusedError ? ResetCode.REFUSED : (error.resetCode ?? null)],
      ),
    ),
  'check.bye': async (_value, call) => {
    await call.reply(null);
    void call.peer.close({ drainMs: 60_000 });
  },
};

/** Gets the streams that the contract leaves. */
function handler(payload, call) {
  const agreed = Array.isArray(payload) ? AGREED[payload[0]] : undefined;
  return agreed === undefined ? call.reply(payload) : agreed(payload[1], call);
}

/** Bad options, and what is bad about them. */
const BAD = {
  none: undefined,
  misspelt: { handelr: handler },
  listening: { port: 8080, handler },
  'a handler of text': { handler: 'echo' },
  'an origin without its scheme': { origins: ['app.example.org'] },
  'a codec that is none': { codec: 'json' },
};

/** Makes the muxes of a server by their paths, and the answer to all other requests. */
export function appOf(serve, refuse) {
  const shared = { ...answers, handler };
  const muxes = {
    '/json': serve(shared),
    '/msgpack': serve({ ...shared, codec: new MsgpackCodec() }),
    '/limited': serve({ ...shared, totalLimits: { maxConnections: 1 } }),
    '/draining': serve(shared),
    '/verified': serve({
      ...shared,
      verify: async ({ headers }, address) => {
        const token = headers.get('authorization');
        if (token === 'busy') return refuse(429, { 'Retry-After': '5' });
        if (token === 'late') throw new Error('this error is part of the test');
        return token === 'ann' ? { user: 'ann', address } : 401;
      },
    }),
  };
  return { muxes, control: (request) => control(request, muxes, serve) };
}

/** Answers the questions of a test. */
async function control(request, muxes, serve) {
  const { pathname, searchParams } = new URL(request.url);
  const mux = muxes[searchParams.get('mux')];
  if (pathname === '/facts') return Response.json({ ...facts, ...(mux && { stats: mux.stats(), shown: String(mux) }) });
  if (pathname === '/notify') return Response.json(mux.notify({ news: 1 }));
  if (pathname === '/close') {
    void mux.close({ drainMs: 60_000 });
    return Response.json(null);
  }
  if (pathname === '/closed') return Response.json((await mux.closed) ?? null);
  if (pathname === '/conformance') return Response.json(runCases(await request.json()));
  if (pathname === '/bad')
    return Response.json(Object.fromEntries(Object.entries(BAD).map(([what, options]) => [what, thrownBy(() => serve(options))])));
  if (pathname === '/self') return Response.json(await callSelf(searchParams.get('url')));
  return new Response('no such question\n', { status: 404 });
}

function thrownBy(call) {
  try {
    call();
    return 'nothing';
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

/** A client in the runtime itself. */
async function callSelf(url) {
  const codecs = { '/json': new JsonCodec(), '/msgpack': new MsgpackCodec() };
  return Promise.all(
    PATHS.map(async (path) => {
      const peer = connect(url + path, { codec: codecs[path] });
      const squared = await client(peer, api).square.promise({ n: 12 });
      await peer.close();
      return squared;
    }),
  );
}
