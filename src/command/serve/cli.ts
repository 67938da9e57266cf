import { parseArgs } from 'node:util';
import type { AddressInfo } from 'node:net';
import { codecNamed } from '../codec.js';
import { Exit } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { numberOf } from '../headers.js';
import { serve } from 'rxmux/node';
import { answerTo } from './answers.js';

export const help = `rxmux serve: a server to try things with

USAGE
  rxmux serve [options]

Prints its address, and serves until it is interrupted. Then it drains.

ANSWERS
  ["file", path]      the bytes of a file below --files, in pieces of 64 KiB.
                      Under json each piece is a text in base64
  ["check....", ...]  the agreed payloads of "rxmux check"
  any other payload   itself: a request gets its payload back, and a stream
                      each payload that it sends

OPTIONS
  --port PORT    listen here (default 8080; 0 picks a free port)
  --host HOST    listen on this address (default 127.0.0.1)
  --codec NAME   json or msgpack (default json)
  --files DIR    serve the files of this directory (default none)
  -h, --help     print this page

EXAMPLES
  rxmux serve --port 0
  rxmux serve --codec msgpack --files ./public
`;

/** Runs `rxmux serve`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string', default: '8080' },
      host: { type: 'string', default: '127.0.0.1' },
      codec: { type: 'string', default: 'json' },
      files: { type: 'string' },
    },
  });
  const { host, files } = values;
  const codec = await codecNamed(values.codec);
  const server = serve({ host, port: numberOf('port', values.port), codec, handler: answerTo(files ?? null, codec.binary) });
  const { port } = (await server.listening) as AddressInfo;
  process.stdout.write(`ws://${host.includes(':') ? `[${host}]` : host}:${port}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close({ drainMs: 2_000 }));
  await server.closed;
  return Exit.OK;
}
