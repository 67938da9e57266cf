import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import type { ClientHttp2Session, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Adapter, Needs, Sink, StreamAsk } from '../harness/adapter.js';
import { portOf } from './port.js';

/** In MB, as in Node's option. */
const DEFAULT_SESSION_MB = 10;
const STREAM_BYTES = 16 * 1_024;

function raised({ payloadBytes = 0, streams = 0 }: Needs): { maxSessionMemory?: number } {
  const megabytes = Math.ceil((payloadBytes * 2 + streams * STREAM_BYTES) / 1e6);
  return megabytes > DEFAULT_SESSION_MB ? { maxSessionMemory: megabytes } : {};
}

/** HTTP/2 without TLS, for scale: a request is a POST of JSON, a stream answers with a line of JSON for each item. */
export const adapter: Adapter = {
  limits: raised,
  async listen(service, needs) {
    const server = createServer(raised(needs));
    server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      void read(stream).then(async (payload) => {
        stream.respond({ ':status': 200 });
        if (headers[':path'] === '/answer') stream.end(JSON.stringify(service.answer(payload)));
        else await write(stream, service.items(payload as StreamAsk));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: portOf(server.address()), close: () => void server.close() };
  },
  async connect(port, needs) {
    const session = connect(`http://127.0.0.1:${port}`, raised(needs));
    await once(session, 'connect');
    return {
      request: (payload) => read(post(session, '/answer', payload)),
      stream: (ask, sink) => {
        readLines(post(session, '/items', ask), sink);
      },
      close: () => {
        session.close();
      },
    };
  },
};

function post(session: ClientHttp2Session, path: string, payload: unknown): NodeJS.ReadableStream {
  const stream = session.request({ ':method': 'POST', ':path': path });
  stream.end(JSON.stringify(payload));
  return stream;
}

function read(stream: NodeJS.ReadableStream): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('end', () => {
      resolve(JSON.parse(Buffer.concat(chunks).toString()));
    });
  });
}

function readLines(stream: NodeJS.ReadableStream, { next, error, complete }: Sink): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) next(JSON.parse(line));
  });
  stream.on('error', error);
  stream.on('end', complete);
}

async function write(stream: ServerHttp2Stream, items: Iterable<unknown> | null): Promise<void> {
  if (items === null) return;
  for (const item of items) if (!stream.write(`${JSON.stringify(item)}\n`)) await once(stream, 'drain');
  stream.end();
}
