// Sessions in a signed cookie, for servers without a library for them. Every process with the same SECRET knows them.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const secret = process.env['SECRET'] ?? 'a secret of this example, and of no real server';

const signatureOf = (user: string): Buffer => createHmac('sha256', secret).update(user).digest();

/** Answers `POST /login?user=ann` with a cookie. A real server checks a password first. */
export function login(request: IncomingMessage, response: ServerResponse): void {
  const { url = '/', method } = request;
  // A stranger may ask for '*:99999', which would be no URL.
  const user = new URL(`http://localhost${url.startsWith('/') ? url : '/'}`).searchParams.get('user');
  if (method !== 'POST' || user === null) return void response.writeHead(404).end();
  const value = `${Buffer.from(user).toString('base64url')}.${signatureOf(user).toString('base64url')}`;
  response.writeHead(204, { 'Set-Cookie': `session=${value}; HttpOnly; SameSite=Lax; Path=/` }).end();
}

/** Finds the user of a cookie. The result becomes the context of the peer. */
export function verify({ headers }: IncomingMessage): { user: string } | 401 {
  const [, name = '', signature = ''] = /(?:^|; )session=([\w-]+)\.([\w-]+)/.exec(headers.cookie ?? '') ?? [];
  const user = Buffer.from(name, 'base64url').toString();
  const [given, expected] = [Buffer.from(signature, 'base64url'), signatureOf(user)];
  return given.length === expected.length && timingSafeEqual(given, expected) ? { user } : 401;
}
