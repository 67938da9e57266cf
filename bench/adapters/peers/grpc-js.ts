import { Client, credentials, Server, ServerCredentials } from '@grpc/grpc-js';
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { once } from 'node:events';
import type { Adapter, Needs, StreamAsk } from '../../harness/adapter.js';

const DEFAULT_MAX_BYTES = 4 * 1024 * 1024;

function raised({ payloadBytes = 0 }: Needs): Record<string, number> {
  const bytes = payloadBytes + 1_024;
  return bytes > DEFAULT_MAX_BYTES ? { 'grpc.max_receive_message_length': bytes } : {};
}

function encode(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function decode(data: Buffer): unknown {
  return JSON.parse(data.toString());
}

function method(path: string, responseStream: boolean) {
  const json = { requestSerialize: encode, requestDeserialize: decode, responseSerialize: encode, responseDeserialize: decode };
  return { path, requestStream: false, responseStream, ...json };
}

const SERVICE = { answer: method('/bench/answer', false), items: method('/bench/items', true) };

/** gRPC without TLS, for scale, with JSON in place of protocol buffers. */
export const adapter: Adapter = {
  limits: raised,
  async listen(service, needs) {
    const server = new Server(raised(needs));
    server.addService(SERVICE, {
      answer: (call: ServerUnaryCall<unknown, unknown>, done: sendUnaryData<unknown>) => {
        done(null, service.answer(call.request));
      },
      items: (call: ServerWritableStream<unknown, unknown>) => {
        void write(call, service.items(call.request as StreamAsk));
      },
    });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
        if (error === null) resolve(bound);
        else reject(error);
      });
    });
    return {
      port,
      close: () => {
        server.forceShutdown();
      },
    };
  },
  async connect(port, needs) {
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), raised(needs));
    await new Promise<void>((resolve, reject) => {
      client.waitForReady(Date.now() + 10_000, (error) => {
        if (error === undefined) resolve();
        else reject(error);
      });
    });
    return {
      request: (payload) =>
        new Promise((resolve, reject) => {
          client.makeUnaryRequest(SERVICE.answer.path, encode, decode, payload, (error, reply) => {
            if (error === null) resolve(reply);
            else reject(error);
          });
        }),
      stream: (ask, { next, error, complete }) => {
        const call = client.makeServerStreamRequest(SERVICE.items.path, encode, decode, ask);
        call.on('data', next);
        call.on('error', error);
        call.on('end', complete);
      },
      close: () => {
        client.close();
      },
    };
  },
};

async function write(call: ServerWritableStream<unknown, unknown>, items: Iterable<unknown> | null): Promise<void> {
  if (items === null) return;
  for (const item of items) if (!call.write(item)) await once(call, 'drain');
  call.end();
}
