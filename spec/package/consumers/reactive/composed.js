import { filter, firstValueFrom, NEVER, startWith, Subject } from 'rxjs';
import { connect, respond } from 'rxmux';
import { createServer } from 'rxmux/testing';
import { effectScope, ref, watch } from 'vue';
import { useStream } from './composable.js';

const server = createServer();
const stopped$ = new Subject();
let sockets = 0;
server.peers$.subscribe((peer) => {
  const socket = ++sockets;
  const price = (symbol, stream) => {
    stream.signal.addEventListener('abort', () => stopped$.next(symbol));
    return NEVER.pipe(startWith(`${symbol} on socket ${socket}`));
  };
  peer.streams$.pipe(respond(price)).subscribe();
});
const peer = connect('ws://test', { socket: server.socket, keepalive: false, reconnect: { minDelayMs: 0, maxDelayMs: 0 } });

const symbol = ref('EUR');
const shown$ = new Subject();
const shows = (text) => firstValueFrom(shown$.pipe(filter((shown) => shown === text))).then(console.log);
const scope = effectScope();
scope.run(() => {
  const { value } = useStream(peer, () => peer.open$(symbol.value));
  watch(value, (shown) => shown$.next(shown));
});

await shows('EUR on socket 1');
symbol.value = 'CHF';
await shows('CHF on socket 1');
server.link.cut();
await shows('CHF on socket 2');
const stopped = firstValueFrom(stopped$);
scope.stop();
await stopped;
console.log('no stream');
process.exit();
