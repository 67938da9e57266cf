// H3 over crossws, on Node: a route for each mux.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import nodeAdapter from 'crossws/adapters/node';
import { refuse, serve } from 'rxmux/crossws';
import { appOf } from './app.js';

const { muxes, control } = appOf(serve, refuse);
const ws = nodeAdapter({ resolve: (request) => muxes[new URL(request.url).pathname]?.hooks });
const server = createServer(async (request, response) => {
  const body = request.method === 'POST' ? await text(request) : undefined;
  const answer = await control(new Request(`http://127.0.0.1${request.url}`, { method: request.method, body }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
});
server.on('upgrade', (request, socket, head) => void ws.handleUpgrade(request, socket, head));
server.listen(0, '127.0.0.1', () => console.log('listening', server.address().port));
