import { encodeOnce } from 'rxmux';
import type { Codec, Peer, Stream } from 'rxmux';
import { connect, serve } from 'rxmux/node';
import { answerTopic, memoryLog } from 'rxmux/topics';
import { from, share, Subject } from 'rxjs';
import type { Adapter, AnsweredBy, StreamAsk } from '../harness/adapter.js';
import { clientOf, raised } from './rxmux-client.js';

/** rxmux as a user installs it: every check is on. Every option has its default, but for limits that a workload exceeds. */
export function rxmux(newCodec: () => Codec): Adapter {
  return {
    limits: (needs) => raised(needs) as Readonly<Record<string, number>>,
    async listen(service, needs) {
      const values$ = new Subject<unknown>();
      const feed$ = values$.pipe(encodeOnce(), share());
      const notified = new Set<Peer>();
      const log = memoryLog();
      const server = serve({
        host: '127.0.0.1',
        port: 0,
        codec: newCodec(),
        limits: raised(needs),
        handler: (payload: unknown, stream) => {
          if (!isStream(payload)) return stream.reply(service.answer(payload));
          if (payload.stream.by === 'notify') {
            notified.add(stream.peer);
            return undefined;
          }
          if (payload.stream.feed === true) return stream.sendAll(feed$);
          const items = service.items(payload.stream);
          if (payload.stream.by === 'topic') return stream.sendAll(answerTopic(log, null));
          return items === null ? new Promise<void>(() => undefined) : answer(stream, items, payload.stream.by);
        },
      });
      service.onFeed((value) => {
        values$.next(value);
        if (notified.size > 0) server.notify(value, { to: (peer) => notified.has(peer) });
      });
      const { port } = await server.listening;
      return { port, close: () => server.close() };
    },
    async connect(port, needs) {
      const peer = connect(`ws://127.0.0.1:${port}`, { codec: newCodec(), limits: raised(needs) });
      await peer.opened;
      return clientOf(peer);
    },
  };
}

async function answer(stream: Stream, items: Iterable<unknown>, by: AnsweredBy = 'iterable'): Promise<void> {
  if (by === 'generator') return stream.sendAll(generate(items));
  if (by === 'observable') return stream.sendAll(from(items));
  if (by === 'iterable') return stream.sendAll(items);
  for (const item of items) await stream.send(item);
}

/** A generator that first awaits its source. */
async function* generate(items: Iterable<unknown>): AsyncGenerator {
  const source = await Promise.resolve(items);
  for (const item of source) yield item;
}

function isStream(payload: unknown): payload is { readonly stream: StreamAsk } {
  return typeof payload === 'object' && payload !== null && 'stream' in payload;
}
