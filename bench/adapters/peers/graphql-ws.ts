import { once } from 'node:events';
import { GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLScalarType, GraphQLSchema } from 'graphql';
import { createClient } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocket, WebSocketServer } from 'ws';
import type { Adapter, Service } from '../../harness/adapter.js';
import { portOf } from '../port.js';

const Any = new GraphQLScalarType({ name: 'Any' });

function schema(service: Service): GraphQLSchema {
  return new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: {
        answer: {
          type: Any,
          args: { payload: { type: Any } },
          resolve: (_root, args: { payload: unknown }) => service.answer(args.payload),
        },
      },
    }),
    subscription: new GraphQLObjectType({
      name: 'Subscription',
      fields: {
        items: {
          type: Any,
          args: { items: { type: new GraphQLNonNull(GraphQLInt) }, bytes: { type: GraphQLInt } },
          subscribe: (_root, { items, bytes }: { items: number; bytes?: number }) =>
            generate(service.items(bytes === undefined ? { items } : { items, bytes })),
          resolve: (item: unknown) => item,
        },
        feed: { type: Any, subscribe: () => feed(service), resolve: (value: unknown) => value },
      },
    }),
  });
}

async function* generate(items: Iterable<unknown> | null): AsyncGenerator {
  if (items === null) await new Promise(() => undefined);
  else yield* items;
}

async function* feed(service: Service): AsyncGenerator {
  const queue: unknown[] = [];
  let wake: () => void = () => undefined;
  const leave = service.onFeed((value) => {
    queue.push(value);
    wake();
  });
  try {
    for (;;) {
      while (queue.length > 0) yield queue.shift();
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    leave();
  }
}

const QUERY = 'query($payload: Any) { answer(payload: $payload) }';
const SUBSCRIPTION = 'subscription($items: Int!, $bytes: Int) { items(items: $items, bytes: $bytes) }';

/** Requests are queries, streams are subscriptions over an async generator. */
export const adapter: Adapter = {
  limits: () => ({}),
  async listen(service) {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
    const { dispose } = useServer({ schema: schema(service) }, server);
    await once(server, 'listening');
    return { port: portOf(server.address()), close: () => dispose() };
  },
  async connect(port) {
    const client = createClient({ url: `ws://127.0.0.1:${port}`, webSocketImpl: WebSocket, lazy: false, retryAttempts: 0 });
    await new Promise<void>((resolve) => {
      client.on('connected', () => {
        resolve();
      });
    });
    return {
      request: (payload) =>
        new Promise((resolve, reject) => {
          client.subscribe<{ answer: unknown }>(
            { query: QUERY, variables: { payload } },
            {
              next: ({ data, errors }) => {
                if (errors === undefined) resolve(data?.answer);
                else reject(new Error(JSON.stringify(errors)));
              },
              error: reject,
              complete: () => undefined,
            },
          );
        }),
      stream: (ask, { next, error, complete }) => {
        client.subscribe<{ items?: unknown; feed?: unknown }>(
          ask.feed === true ? { query: 'subscription { feed }' } : { query: SUBSCRIPTION, variables: { ...ask } },
          {
            next: ({ data }) => {
              next(ask.feed === true ? data?.feed : data?.items);
            },
            error,
            complete,
          },
        );
      },
      close: () => client.dispose(),
    };
  },
};
