import { request as httpRequest } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { randomBytes } from 'node:crypto';
import { networkText } from '../output.js';
import { Mismatch } from './mismatch.js';
import type { Run } from './steps.js';
import type { Step } from './rows.js';

interface Offer {
  readonly offer: readonly string[];
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

/** Sends a handshake by hand, and checks its status. With 101 it also checks the subprotocol and the extensions. */
export async function upgradeStep(step: Step, run: Run): Promise<void> {
  const { offer, headers = [] } = step['upgrade'] as Offer;
  const values = offer.map((value) => value.replaceAll('{codec}', run.codec.name));
  run.sent.push(`an upgrade with ${values.length === 0 ? 'no subprotocol' : values.map((value) => `'${value}'`).join(' and ')}`);
  const { status, chosen, extensions } = await answerTo(run, {
    ...Object.fromEntries(headers),
    ...(values.length > 0 && { 'Sec-WebSocket-Protocol': values }),
  });
  const expected = step['expectStatus'];
  if (status !== expected) throw new Mismatch(`the status ${String(expected)}`, String(status));
  if (status !== 101) return;
  const own = `mux.v1.${run.codec.name}`;
  if (chosen !== own) throw new Mismatch(`the subprotocol ${own}`, chosen ?? 'none');
  const offered = headers.some(([name]) => name === 'Sec-WebSocket-Extensions');
  if (offered ? !isCompression(extensions) : extensions !== undefined)
    throw new Mismatch(offered ? 'no extension but permessage-deflate' : 'no extension', extensions ?? 'none');
}

/** Whether a header names no extension but the one that a user may have asked for. */
export function isCompression(extensions = ''): boolean {
  return extensions.split(',').every((extension) => /^\s*(permessage-deflate\s*(;|$)|$)/.test(extension));
}

interface Answer {
  readonly status: number | undefined;
  readonly chosen: string | undefined;
  readonly extensions: string | undefined;
}

function answerTo({ target: { server }, withinMs }: Run, headers: OutgoingHttpHeaders): Promise<Answer> {
  if (server === undefined) throw new TypeError('expected an acceptor as the target');
  const url = new URL(server.url.replace(/^ws/, 'http'));
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    headers: {
      ...server.headers,
      ...headers,
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    },
    timeout: withinMs,
  });
  return new Promise((resolve, reject) => {
    const answered = ({ statusCode, headers: got }: IncomingMessage): void => {
      resolve({ status: statusCode, chosen: got['sec-websocket-protocol'], extensions: got['sec-websocket-extensions'] });
      request.destroy();
    };
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      answered(response);
    });
    request.on('response', answered);
    request.on('timeout', () => request.destroy(new Error('no answer came in time')));
    request.on('error', (error) => {
      reject(new Mismatch('an answer to the handshake', networkText(error)));
    });
    request.end();
  });
}
