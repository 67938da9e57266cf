import { refuse, serve } from 'rxmux/bun';
import { appOf } from './app.js';

const { muxes, control } = appOf(serve, refuse);
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request, self) => muxes[new URL(request.url).pathname]?.fetch(request, self) ?? control(request),
  websocket: muxes['/json'].websocket,
});
console.log('listening', server.port);
