import { refuse, serve } from 'rxmux/deno';
import { appOf } from './app.js';

const { muxes, control } = appOf(serve, refuse);
Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => console.log('listening', port) }, (request, info) => {
  const mux = muxes[new URL(request.url).pathname];
  return mux === undefined ? control(request) : mux.fetch(request, info);
});
