import type { Codec } from 'rxmux';
import { connect, serve } from 'rxmux/node';
import type { Adapter, StreamAsk } from '../harness/adapter.js';
import { clientOf, raised } from './rxmux-client.js';

/** rxmux as a user installs it: every check is on. Every option has its default, but for limits that a workload exceeds. */
export function rxmux(newCodec: () => Codec): Adapter {
  return {
    limits: (needs) => raised(needs) as Readonly<Record<string, number>>,
    async listen(service, needs) {
      const server = serve({
        host: '127.0.0.1',
        port: 0,
        codec: newCodec(),
        limits: raised(needs),
        handler: (payload: unknown, stream) => {
          if (!isStream(payload)) return stream.reply(service.answer(payload));
          const items = service.items(payload.stream);
          return items === null ? new Promise<void>(() => undefined) : stream.sendAll(items);
        },
      });
      const address = await server.listening;
      if (typeof address === 'string') throw new TypeError(`expected a port, got ${address}`);
      return { port: address.port, close: () => server.close() };
    },
    async connect(port, needs) {
      const peer = connect(`ws://127.0.0.1:${port}`, { codec: newCodec(), limits: raised(needs) });
      await peer.opened;
      return clientOf(peer);
    },
  };
}

function isStream(payload: unknown): payload is { readonly stream: StreamAsk } {
  return typeof payload === 'object' && payload !== null && 'stream' in payload;
}
