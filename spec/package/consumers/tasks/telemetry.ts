// Spans of a server on the console.
import { BasicTracerProvider, ConsoleSpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { trace } from '@opentelemetry/api';
import { answering, client, contract, request } from 'rxmux/contract';
import { connect, serve } from 'rxmux/node';
import { instrument } from 'rxmux/otel';

trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())] }));
const api = contract({ square: request<{ n: number }, number>() });

await using server = serve({ port: 0, onError: () => undefined, ...answering(api, { square: ({ n }) => check(n) ** 2 }) });
instrument(server, { methods: api });
await server.listening;
await using peer = connect(server.url);
const { square } = client(peer, api);
await square.promise({ n: 2 });
await square.promise({ n: -2 }).catch(() => undefined);

function check(n: number): number {
  if (n < 0) throw new RangeError('no negative numbers');
  return n;
}
