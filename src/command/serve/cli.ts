import { realpath, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { parseArgs } from 'node:util';
import { inspect } from 'rxmux/inspect';
import { refuse, serve } from 'rxmux/node';
import type { UpgradeRefusal } from 'rxmux/node';
import { codecNamed } from '../codec.js';
import { Exit, UsageError, onSignal } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { wholeOf } from '../headers.js';
import { INSPECTOR_HELP, INSPECTOR_OPTIONS, loadPage, serveInspector } from '../inspector.js';
import { isForThisMachine, listen, MAX_PORT } from '../listen.js';
import { answerTo } from './answers.js';

export const help = `rxmux serve: a server to try things with

USAGE
  rxmux serve [options]

Prints its address, and serves until it is interrupted. Then it drains.

ANSWERS
  ["file", path]      the bytes of a file below --files, in pieces of 64 KiB.
                      Under json each piece is a text in base64. A link that
                      leads out of the directory is no file
  ["check....", ...]  the agreed payloads of "rxmux check"
  any other payload   itself: a request gets its payload back, and a stream
                      each payload that it sends

OPTIONS
  --port PORT       listen here (default 8080; 0 picks a free port)
  --host HOST       listen on this address (default 127.0.0.1). Over a
                    loopback address, only dialers that ask for localhost or
                    such an address may connect
  --codec NAME      json, rich or msgpack (default json)
  --files DIR       serve the files of this directory (default none)
${INSPECTOR_HELP}  -h, --help        print this page

EXIT STATUS
  0  it was interrupted     6  it cannot listen on the port
  2  wrong arguments

EXAMPLES
  rxmux serve --port 0
  rxmux serve --codec msgpack --files ./public
  rxmux serve --inspect
`;

const DRAIN_MS = 2_000;

/** Runs `rxmux serve`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string', default: '8080' },
      host: { type: 'string', default: '127.0.0.1' },
      codec: { type: 'string', default: 'json' },
      files: { type: 'string' },
      ...INSPECTOR_OPTIONS,
    },
  });
  // Node would listen on every address.
  if (values.host === '') throw new UsageError("expected a host, got ''");
  const codec = await codecNamed(values.codec);
  const files = await directoryOf(values.files);
  const page = await loadPage(values);
  const { server: http, address } = await listen(values.host, wholeOf('port', values.port, 0, MAX_PORT));
  const server = serve({ server: http, codec, verify: ofThisMachine, handler: answerTo(files, codec.name !== 'json') });
  const viewed = page === null ? '' : `${await serveInspector(inspect(server), page)}\n`;
  process.stdout.write(`ws://${address}\n${viewed}`);
  onSignal(() => void server.close({ drainMs: DRAIN_MS }));
  await server.closed;
  process.exit(Exit.OK);
}

/** Refuses pages of other hosts, which may reach a loopback address by a rebound name. */
function ofThisMachine(request: IncomingMessage): true | UpgradeRefusal {
  return isForThisMachine(request) || refuse(403, {}, 'expected a loopback host, such as localhost or 127.0.0.1');
}

/** Returns the directory of `--files` itself, without links. */
async function directoryOf(path: string | undefined): Promise<string | null> {
  if (path === undefined) return null;
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() !== true) throw new UsageError(`expected a directory for --files, got '${path}'`);
  return realpath(path);
}
