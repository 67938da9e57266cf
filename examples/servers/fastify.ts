// Fastify 5 with @fastify/session.
import cookie from '@fastify/cookie';
import session from '@fastify/session';
import fastify from 'fastify';
import type { FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { api } from './api.ts';

declare module 'fastify' {
  interface Session {
    user?: string;
  }
}

const app = fastify();
await app.register(cookie);
await app.register(session, {
  secret: process.env['SECRET'] ?? 'a secret of at least 32 characters',
  cookie: { secure: 'auto' },
  saveUninitialized: false,
});
// A real server checks a password first.
app.post<{ Querystring: { user: string } }>('/login', async ({ query, session: own }, reply) => {
  own.user = query.user;
  return reply.code(204).send();
});

/** An upgrade passes no hook, so the session is read here. */
function verify({ headers }: IncomingMessage): Promise<{ user: string } | 401> {
  const { sessionId = '' } = app.parseCookie(headers.cookie ?? '');
  const asked = {} as FastifyRequest;
  return new Promise((resolve) => {
    app.decryptSession(sessionId, asked, () => {
      const user = asked.session?.user;
      resolve(user === undefined ? 401 : { user });
    });
  });
}

const answers = answering(api, { me: (_, { context }) => context.user }, { verify });
const mux = serve({ server: app.server, path: '/mux', ...answers });
app.addHook('preClose', () => mux.close().then(() => undefined));
console.log('listening', new URL(await app.listen({ port: Number(process.argv[2] ?? 8080), host: '127.0.0.1' })).port);

process.once('SIGTERM', () => void app.close());
