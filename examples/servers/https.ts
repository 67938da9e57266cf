// node:https, with the key and the certificate in files that TLS_KEY and TLS_CERT name.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { api } from './api.ts';
import { login, verify } from './session.ts';

const [key, cert] = ['TLS_KEY', 'TLS_CERT'].map((name) => readFileSync(process.env[name] ?? `${name}.pem`));
const https = createServer({ key, cert }, login);
const answers = answering(api, { me: (_, { context }) => context.user }, { verify });
const mux = serve({ server: https, path: '/mux', ...answers });

https.listen(Number(process.argv[2] ?? 8443), '127.0.0.1', () => console.log('listening', (https.address() as AddressInfo).port));

process.once('SIGTERM', async () => {
  await mux.close();
  https.close();
});
