import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';

/** Since Node 22.21 and 24.9 a server asks its `shouldUpgradeCallback` before it stops reading HTTP. */
interface Judging {
  shouldUpgradeCallback?: (request: IncomingMessage) => boolean;
}

/**
 * Makes a server upgrade only requests that also pass `judge`. Returns a function that undoes this, or `null` if this Node has no such
 * callback.
 */
export function judgeUpgrades(server: HttpServer | HttpsServer, judge: (request: IncomingMessage) => boolean): (() => void) | null {
  const judging = server as Judging & typeof server;
  const before = judging.shouldUpgradeCallback;
  if (before === undefined) return null;
  const both = (request: IncomingMessage): boolean => before.call(server, request) && judge(request);
  judging.shouldUpgradeCallback = both;
  return () => {
    if (judging.shouldUpgradeCallback === both) judging.shouldUpgradeCallback = before;
  };
}

/**
 * Returns an upgrade request to its HTTP server. The server reads it again as an ordinary request, with its body and with the requests
 * that follow on the connection. An older Node stops reading HTTP at each upgrade once a server has one `upgrade` listener.
 */
export function handBack(server: HttpServer | HttpsServer, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.unshift(Buffer.concat([Buffer.from(headOf(request), 'latin1'), head]));
  server.emit(server instanceof TlsServer ? 'secureConnection' : 'connection', socket);
}

/** The original head of the request, without the token of `Connection` that makes it an upgrade. */
function headOf({ method = 'GET', url = '/', httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const kept = name.toLowerCase() === 'connection' ? withoutUpgrade(value) : value;
    if (kept !== null) lines.push(`${name}: ${kept}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function withoutUpgrade(connection: string): string | null {
  const tokens = connection.split(',').map((token) => token.trim());
  const kept = tokens.filter((token) => token !== '' && token.toLowerCase() !== 'upgrade');
  return kept.length === 0 ? null : kept.join(', ');
}
