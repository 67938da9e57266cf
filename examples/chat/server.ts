// One of many servers: serves the page, and answers the contract from the broker.
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defer, map, retry, throwError, timer, using } from 'rxjs';
import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { answerTopic, BrokerError, presence } from 'rxmux/topics';
import { api } from './api.js';
import { connectBroker } from './broker/broker.js';

const [server = '', brokerUrl = ''] = process.argv.slice(2);
const broker = await connectBroker(brokerUrl);
const present = presence(broker.bus, { leaseMs: 3_000 });

const answers = answering(api, {
  lines: ({ room, since }) => answerTopic(broker.log(room), since, { from: 'start' }),
  // The key makes a line count once, also where it is published again: by a client at another server, or here after the broker was away.
  say: ({ room, line }) =>
    defer(() => broker.log(room).publish(line, { key: `${line.writer}:${line.nth}` })).pipe(retry({ delay: whileAway })),
  join: ({ room, name }, { stream }) =>
    using(
      () => present.join(room, name, stream.peer),
      () => present.members$(room).pipe(map((members) => ({ members: [...members].sort(), server }))),
    ),
  end: (signal) => void process.kill(process.pid, signal),
});

function whileAway(error: unknown) {
  return error instanceof BrokerError && error.code === 'BROKER_AWAY' ? timer(100) : throwError(() => error);
}

const TYPES: Readonly<Record<string, string>> = { '/page.js': 'text/javascript', '/page.css': 'text/css' };

const http = createServer(({ url = '/' }, response) => {
  const type = TYPES[url];
  response.setHeader('Content-Type', `${type ?? 'text/html'}; charset=utf-8`);
  const file = createReadStream(new URL(`page${type === undefined ? '/index.html' : url}`, import.meta.url));
  file.pipe(response);
  response.on('close', () => file.destroy());
});
const mux = serve({ server: http, path: '/mux', ...answers });
http.listen(0, '127.0.0.1', () => process.send?.((http.address() as AddressInfo).port, () => undefined));

process.once('SIGTERM', () => {
  http.close(); // takes no new connection, while the present ones drain
  void mux.close({ drainMs: 3_000 }).then(() => process.exit());
});
process.once('disconnect', () => process.exit()); // its parent has ended
