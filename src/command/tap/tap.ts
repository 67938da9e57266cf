import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { describeLine, withoutContent, writeLine } from 'rxmux/inspect';
import type { Line } from 'rxmux/inspect';
import { addressOf } from '../address.js';
import { Exit } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { headersOf, numberOf } from '../headers.js';
import { proxyTo } from './proxy.js';

export const help = `rxmux tap: shows the frames between dialers and a server

USAGE
  rxmux tap [options] URL

It prints an address of its own, and passes each connection on to URL,
message by message. It shows one line a frame, until it is interrupted.

OPTIONS
  --port PORT       listen here on 127.0.0.1 (default 8081; 0 picks a port)
  --record FILE     write the lines to this file, as JSON, and show nothing
  --payloads        write payloads, headers and trailers too, and not only
                    their sizes. They may hold secrets
  --json            show one JSON object a line
  -H 'NAME: VALUE'  send a header with each handshake; may come repeatedly
  -h, --help        print this page

A LINE OF JSON
  v  1, the version of this form
  t  time since the start, in ms
  c  the connection, counted from 1
  d  ">" from the dialer, "<" from the server
  f  the frame; bytes are {"$base64":"..."}, dates {"$date":ms}, and left-out
     content is {"$size":n}. A message that does not decode is null

EXAMPLES
  rxmux tap ws://127.0.0.1:8080
  rxmux tap --record run.ndjson --payloads wss://example.org/mux
`;

/** Runs `rxmux tap`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      port: { type: 'string', default: '8081' },
      record: { type: 'string' },
      payloads: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      header: { type: 'string', short: 'H', multiple: true },
    },
  });
  const { record, payloads, json } = values;
  const output = record === undefined ? process.stdout : createWriteStream(record);
  const isJson = json || record !== undefined;
  const report = (line: Line): void => {
    output.write(`${isJson ? writeLine(payloads ? line : withoutContent(line)) : describeLine(line)}\n`);
  };
  const server = proxyTo(addressOf(positionals), headersOf(values.header), report);
  await once(server.listen(numberOf('port', values.port), '127.0.0.1'), 'listening');
  process.stdout.write(`ws://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  if (output !== process.stdout) await new Promise<void>((resolve) => output.end(resolve));
  process.exit(Exit.OK);
}
