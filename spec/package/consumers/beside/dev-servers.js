// Development servers of bundlers: rxmux joins them, and they pass a path on to a server of rxmux.
import assert from 'node:assert/strict';
import { createServer as createVite } from 'vite';
import webpack from 'webpack';
import WebpackDevServer from 'webpack-dev-server';
import { firstMessage } from './dial.js';

async function startVite(upstream, join) {
  const proxy = { '/mux': { target: upstream, ws: true }, '/away': { target: 'ws://127.0.0.1:1', ws: true } };
  const server = { port: 0, host: '127.0.0.1', watch: null, proxy };
  const plugins = [{ name: 'rxmux', configureServer: ({ httpServer }) => void join(httpServer) }];
  const vite = await createVite({ configFile: false, logLevel: 'silent', server, plugins });
  await vite.listen();
  const { port } = vite.httpServer.address();
  const path = `/?token=${vite.config.webSocketToken}`;
  return {
    port,
    talk: async () => assert.equal(await firstMessage(port, path, ['vite-hmr']), '{"type":"connected"}'),
    leave: () => vite.close(),
  };
}

async function startWebpack(upstream, join) {
  const silent = { stats: 'none', infrastructureLogging: { level: 'none' } };
  const proxy = [
    { context: ['/mux'], target: upstream, ws: true },
    { context: ['/away'], target: 'ws://127.0.0.1:1', ws: true },
  ];
  const options = { port: 0, host: '127.0.0.1', proxy, onListening: ({ server }) => void join(server) };
  const server = new WebpackDevServer(options, webpack({ mode: 'development', entry: './dial.js', externals: /./, ...silent }));
  await server.start();
  const { port } = server.server.address();
  return { port, talk: async () => assert.equal(await firstMessage(port, '/ws'), '{"type":"hot"}'), leave: () => server.stop() };
}

/** `admitsAll` is whether the proxy passes on a dialer without an `Origin`. */
export const DEV_SERVERS = [
  { name: 'Vite', start: startVite, admitsAll: true },
  { name: 'webpack-dev-server', start: startWebpack, admitsAll: false },
];
