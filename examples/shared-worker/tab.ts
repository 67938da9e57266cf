// A tab. Its calls go through the SharedWorker, which has the connection to the server.
import { connect, type Peer } from 'rxmux';
import { portSocket } from 'rxmux/port';

/** Each dial starts the worker if it does not run, and gets a port of its own. `localhost` stands for a dial without a network. */
export function connectTab(): Peer {
  return connect('ws://localhost', {
    reconnect: true,
    socket: (_url, protocol) => portSocket(new SharedWorker('/worker.js', { type: 'module' }).port, protocol),
  });
}
