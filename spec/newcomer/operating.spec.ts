import { connect as connectTcp, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { SpanKind } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { finalize, firstValueFrom, interval } from 'rxjs';
import { answering, client, contract, request, stream } from '../../src/contract.js';
import { instrument } from '../../src/otel.js';
import { serve } from '../../src/node.js';
import { redisLog } from '../../src/redis.js';
import { catchUp, memoryLog, replayable } from '../../src/topics.js';
import type { Log, Replayable, TopicItem } from '../../src/topics.js';
import { FakeClient, FakeServer } from '../redis/fake-redis.js';
import { portOf } from '../support/socket/handshake.js';
import { until } from '../support/socket/leaks.js';
import { closing, listening } from '../support/socket/listening.js';
import { mistakes } from './mistake.js';
import type { Lab } from './mistake.js';

const api = contract({ square: request<{ n: number }, number>() });
const answers = answering(api, {
  square: ({ n }) => {
    if (n < 0) throw new RangeError('no negative numbers');
    return n * n;
  },
});

/** The spans of a server, after a good call and a bad one. */
async function spansOf(lab: Lab): Promise<readonly ReadableSpan[]> {
  const exporter = new InMemorySpanExporter();
  const server = serve({ port: 0, ...answers });
  lab.after(() => server.close());
  instrument(server, { methods: api, tracerProvider: new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }) });
  await server.listening;
  const calls = client(lab.dial(server.url), api);
  await calls.square.promise({ n: 2 });
  await calls.square.promise({ n: -1 }).catch(() => undefined);
  return exporter.getFinishedSpans().filter(({ kind }) => kind === SpanKind.SERVER);
}

/** A proxy that stops reading and writing, and keeps its connections. */
async function freezing(lab: Lab, to: string): Promise<{ readonly url: string; readonly freeze: () => void }> {
  const ends = new Set<Socket>();
  const proxy = await listening(
    createServer((incoming) => {
      const outgoing = connectTcp(Number(new URL(to).port), 'localhost');
      for (const end of [incoming, outgoing]) ends.add(end.on('error', () => undefined));
      incoming.pipe(outgoing).pipe(incoming);
    }),
  );
  lab.after(async () => {
    for (const end of ends) end.destroy();
    await closing(proxy);
  });
  const freeze = (): void => {
    for (const end of ends) end.unpipe();
  };
  return { url: `ws://127.0.0.1:${portOf(proxy)}`, freeze };
}

const chat = contract({ say: request<string>(), lines: stream<string | null, TopicItem<string>>() });
const answered = (log: Log<string>) =>
  answering(chat, {
    say: async (line) => {
      await log.publish(line);
    },
    lines: (since) => catchUp(log, since),
  });

const llm = contract({ tokens: stream<string | null, TopicItem<number>>() });

mistakes([
  {
    mistake: 'two servers of a chat have a `memoryLog` each',
    program: async (lab) => {
      const chats = [await lab.calls(chat, answered(memoryLog())), await lab.calls(chat, answered(memoryLog()))];
      const seen: (string | undefined)[][] = chats.map(() => []);
      chats.forEach(({ lines }, nth) => lines(null).subscribe(({ value }) => seen[nth]?.push(value)));
      // The first item is a place without a line.
      await until('both to listen', () => seen.every(({ length }) => length === 1));
      await chats[0]?.say.promise('hello');
      await chats[1]?.say.promise('good evening');
      await until('both to hear a line', () => seen.every(({ length }) => length > 1));
      return seen;
    },
    gets: [
      [undefined, 'hello'],
      [undefined, 'good evening'],
    ],
    because: 'Topics says that a memoryLog belongs to one process, and names ipcLog, redisLog and natsLog',
  },
  {
    mistake: 'Redis is stopped',
    program: async (lab) => {
      class Away extends FakeClient {
        override sendCommand(): Promise<unknown> {
          return Promise.reject(new Error('Socket closed unexpectedly'));
        }
      }
      const client = new Away(new FakeServer());
      client.accept();
      const log = redisLog<string>(client, { stream: 'chat' });
      const calls = await lab.calls(chat, answered(log));
      await calls.say.promise('hello');
    },
    fails: /Redis does not answer/,
    prints: [/BROKER_AWAY/],
  },
  {
    mistake: 'the spans of a server lack the names of its calls, and the errors of its answers',
    program: async (lab) =>
      (await spansOf(lab)).map(({ name, attributes, events }) => [
        name,
        attributes['rpc.method'],
        ...events.map((event) => event.attributes?.['exception.message']),
      ]),
    gets: [
      ['square', 'square'],
      ['square', 'square', 'no negative numbers'],
    ],
    because: 'the option `methods` takes the contract, and a span records the exception',
    prints: [/a handler failed RangeError: no negative numbers/],
  },
  {
    mistake: 'a program that wakes up on a dead line waits for its keepalive',
    program: async (lab) => {
      const line = await freezing(lab, await lab.serve(answers));
      const peer = lab.dial(line.url);
      await peer.opened;
      line.freeze();
      const sent: string[] = [];
      peer.onFrame((_, { type }) => sent.push(type));
      peer.reconnectNow();
      const atOnce = [...sent];
      const { reason } = await peer.closed;
      return [atOnce, reason];
    },
    gets: [['ping'], 'no sign of life'],
    because: '`reconnectNow` probes an open socket, as a page does that becomes visible',
  },
  {
    mistake: 'the producer of a token stream goes on after its reader has left',
    program: async (lab) => {
      let runs = true;
      let answer: Replayable<number> | undefined;
      const begin = () => (answer ??= replayable(interval(1).pipe(finalize(() => (runs = false))), { idleMs: 10 }));
      const calls = await lab.calls(llm, answering(llm, { tokens: (cursor) => begin().after(cursor) }));
      await firstValueFrom(calls.tokens(null));
      await until('the producer to end', () => !runs);
    },
    gets: undefined,
    because: '`replayable` ends it `idleMs` after its last reader',
  },
]);
