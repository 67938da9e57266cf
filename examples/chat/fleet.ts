// Stands in for a platform: servers that start again when they end, and a balancer before them.
import { fork } from 'node:child_process';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { Observable, repeat, take } from 'rxjs';

/** Runs a server, and again whenever it ends. Emits its port when it listens, and `null` when it has ended. */
export function running(name: string, broker: string): Observable<number | null> {
  return new Observable<number | null>((subscriber) => {
    const server = fork(new URL('server.js', import.meta.url), [name, broker]);
    server.once('message', (port) => {
      console.log(`server ${name} is process ${server.pid}`);
      subscriber.next(port as number);
    });
    server.once('exit', (status, signal) => {
      console.log(`server ${name} ended by ${signal ?? status}`);
      subscriber.next(null);
      subscriber.complete();
    });
    return () => server.kill('SIGKILL');
  }).pipe(repeat());
}

/** Passes each connection to one of the servers that listen, in turn. */
export function balance(ports$: Observable<readonly number[]>): Server {
  let turn = 0;
  return createServer((client) => {
    ports$.pipe(take(1)).subscribe((ports) => {
      const first = turn++ % ports.length;
      pass(client, [...ports.slice(first), ...ports.slice(0, first)]);
    });
  });
}

/** A server that has just ended, or that drains, refuses the connection. The next one takes it. */
function pass(client: Socket, [port, ...others]: readonly number[]): void {
  if (port === undefined) return void client.destroy();
  const server = connect(port, '127.0.0.1');
  const refused = () => pass(client, others);
  server.once('error', refused).once('connect', () => {
    server.off('error', refused);
    pipeline(client, server, () => undefined);
    pipeline(server, client, () => undefined);
  });
}
