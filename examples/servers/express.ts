// Express 5 with express-session.
import express from 'express';
import type { Request, Response } from 'express';
import session from 'express-session';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { api } from './api.ts';

declare module 'express-session' {
  interface SessionData {
    user: string;
  }
}

const app = express();
const sessions = session({ secret: process.env['SECRET'] ?? 'of this example', resave: false, saveUninitialized: false });
app.use(sessions);
// A real server checks a password first.
app.post('/login', (request, response) => {
  request.session.user = String(request.query['user']);
  response.sendStatus(204);
});

/** An upgrade passes no middleware, so the session is read here. Nothing answers with this response. */
function verify(request: IncomingMessage): Promise<{ user: string } | 401> {
  const asked = request as Request;
  return new Promise((resolve, reject) => {
    sessions(asked, {} as Response, (error?: unknown) => {
      if (error !== undefined) return reject(error);
      const { user } = asked.session;
      resolve(user === undefined ? 401 : { user });
    });
  });
}

const http = app.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => console.log('listening', (http.address() as AddressInfo).port));
const answers = answering(api, { me: (_, { context }) => context.user }, { verify });
const mux = serve({ server: http, path: '/mux', ...answers });

process.once('SIGTERM', async () => {
  await mux.close();
  http.close();
});
