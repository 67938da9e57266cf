// Starts a broker, two servers, and an address before them.
//
//   npm run demo:chat                                        serves it at any port
//   npm run demo:chat -- --once                              checks it with two clients, and ends
//   npm run demo:chat -- --broker nats://127.0.0.1:4222      takes a broker that is there; or redis://127.0.0.1:6379
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { combineLatest, filter, firstValueFrom, map, shareReplay, startWith } from 'rxjs';
import { serveBroker } from './broker/serve-broker.js';
import { check } from './check.js';
import { balance, running } from './fleet.js';

const { values, positionals } = parseArgs({
  options: { once: { type: 'boolean', default: false }, broker: { type: 'string' } },
  allowPositionals: true,
});

const broker = values.broker ?? process.env['BROKER'] ?? (await serveBroker());
const ports$ = combineLatest(['A', 'B'].map((name) => running(name, broker).pipe(startWith(null)))).pipe(
  map((ports) => ports.filter((port) => port !== null)),
  shareReplay({ bufferSize: 1, refCount: true }),
);
const servers = ports$.subscribe();
const address = balance(ports$).listen(Number(positionals[0] ?? 0), '127.0.0.1');
await once(address, 'listening');
const at = address.address() as AddressInfo;
await firstValueFrom(ports$.pipe(filter(({ length }) => length === 2)));
console.log('listening', at);
if (!values.once) console.log(`\n  open http://127.0.0.1:${at.port}/ in two windows\n`);

if (values.once) {
  await check(`ws://127.0.0.1:${at.port}/mux`, ports$);
  servers.unsubscribe();
  process.exit();
}
