// node:http. Bun and Deno run this file as it is: `bun node.ts 8080`, `deno run --allow-all node.ts 8080`.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { api } from './api.ts';
import { login, verify } from './session.ts';

const http = createServer(login);
const answers = answering(api, { me: (_, { context }) => context.user }, { verify });
const mux = serve({ server: http, path: '/mux', ...answers });

http.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => console.log('listening', (http.address() as AddressInfo).port));

process.once('SIGTERM', async () => {
  await mux.close();
  http.close();
});
