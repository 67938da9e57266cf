import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';
import type { Server } from 'node:http';
import type { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { describeLine, withoutContent, writeLine } from 'rxmux/inspect';
import type { Line } from 'rxmux/inspect';
import { addressOf, withoutPassword } from '../address.js';
import { Exit, notUsable, onSignal } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { headersOf, wholeOf } from '../headers.js';
import { INSPECTOR_HELP, INSPECTOR_OPTIONS, loadPage, serveInspector } from '../inspector.js';
import { listen, MAX_PORT } from '../listen.js';
import { oneLine, safeJson } from '../output.js';
import { TapProxy } from './proxy.js';
import type { ProxyTarget } from './proxy.js';
import { nameOf, Tapped } from './tapped.js';

export const help = `rxmux tap: shows the frames between dialers and a server

USAGE
  rxmux tap [options] URL

It prints an address of its own, and passes each connection on to URL,
message by message. It shows one line a frame, until it is interrupted: an
open with the name of its call, and a payload with the bytes of its message.
A dialer's own path and query are passed on in place of those of URL.
Where the output is too slow, it leaves lines out and reports their number.

OPTIONS
  --port PORT       listen here on 127.0.0.1 (default 8081; 0 picks a port)
  --record FILE     write the lines to this file, as JSON, and show nothing
  --payloads        write payloads, headers and trailers too, and not only
                    their sizes. They may hold secrets
  --json            show one JSON object a line
  -H 'NAME: VALUE'  send a header with each handshake; may come repeatedly
${INSPECTOR_HELP}  -h, --help        print this page

A LINE OF JSON
  v  1, the version of this form
  t  time since the start, in ms
  c  the connection, counted from 1
  d  ">" from the dialer, "<" from the server
  f  the frame; bytes are {"$base64":"..."}, dates {"$date":ms}, and left-out
     content is {"$size":n}. A message that does not decode is null

EXIT STATUS
  0  it was interrupted     6  it cannot listen on the port
  2  wrong arguments

EXAMPLES
  rxmux tap ws://127.0.0.1:8080
  rxmux tap --record run.ndjson --payloads wss://example.org/mux
  rxmux tap --inspect ws://127.0.0.1:8080
`;

/** How long an output may take the last lines after the interrupt, in ms. */
const DRAIN_MS = 2_000;

/** Runs `rxmux tap`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const { target, port, page, payloads, json, record } = await settingsOf(args);
  const { server, address } = await listen('127.0.0.1', port);
  // Another tap may have the port, and write to this file.
  const output = record === undefined ? process.stdout : await opened(record, server);
  const began = performance.now();
  const now = (): number => performance.now() - began;
  const tapped = new Tapped(`ws://${address}`, now);
  const rows = new Rows(output, writer({ payloads, json: json || record !== undefined }));
  new TapProxy(target, now, {
    opened: (c, codec) => {
      tapped.opened(c, codec);
    },
    closed: (c) => {
      tapped.closed(c);
    },
    passed: (line, bytes) => {
      if (page !== null) tapped.add(line, bytes);
      rows.add(line, bytes);
    },
    failed: (c, why) => process.stderr.write(`rxmux tap: connection ${c}: ${withoutPassword(target.url)}: ${oneLine(why)}\n`),
  }).serve(server);
  const viewed = page === null ? '' : `${await serveInspector(tapped, page)}\n`;
  process.stdout.write(`ws://${address}\n${viewed}`);
  await new Promise(onSignal);
  setTimeout(() => process.exit(Exit.OK), DRAIN_MS);
  await rows.end();
  process.exit(Exit.OK);
}

interface Settings {
  readonly target: ProxyTarget;
  readonly port: number;
  /** The page of the inspector, if it is served. */
  readonly page: Buffer | null;
  readonly payloads: boolean;
  readonly json: boolean;
  readonly record: string | undefined;
}

async function settingsOf(args: readonly string[]): Promise<Settings> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      port: { type: 'string', default: '8081' },
      record: { type: 'string' },
      payloads: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      header: { type: 'string', short: 'H', multiple: true },
      ...INSPECTOR_OPTIONS,
    },
  });
  const { payloads, json, record } = values;
  return {
    target: { url: addressOf(positionals), headers: headersOf(values.header) },
    port: wholeOf('port', values.port, 0, MAX_PORT),
    page: await loadPage(values),
    payloads,
    json,
    record,
  };
}

/** Returns a function that writes a line as text. */
function writer({ payloads, json }: Pick<Settings, 'payloads' | 'json'>): (line: Line, bytes: number) => string {
  const kept = payloads ? (line: Line): Line => line : withoutContent;
  if (json) return (line) => safeJson(writeLine(kept(line)));
  return (line, bytes) => describeLine({ ...kept(line), n: nameOf(line), b: bytes });
}

/** The most bytes that wait for a slow output. */
const MOST_WAITING_BYTES = 16_777_216;
/** The queue takes lines again from here on, so that one report covers many left-out lines. */
const RESUME_BYTES = MOST_WAITING_BYTES / 2;

/** Writes lines to an output. While too many wait there, it leaves lines out and counts them: the tap must not slow the peers down. */
class Rows {
  #leftOut = 0;
  #hasEnded = false;

  constructor(
    private readonly output: Writable,
    private readonly text: (line: Line, bytes: number) => string,
  ) {}

  add(line: Line, bytes: number): void {
    if (this.#hasEnded) return;
    const { writableLength } = this.output;
    if (writableLength > (this.#leftOut === 0 ? MOST_WAITING_BYTES : RESUME_BYTES)) {
      this.#leftOut++;
      return;
    }
    this.report();
    this.output.write(`${this.text(line, bytes)}\n`);
  }

  /** Reports how many lines were left out since the last report. */
  report(): void {
    if (this.#leftOut > 0) process.stderr.write(`rxmux tap: ${this.#leftOut} lines were left out, because the output is too slow\n`);
    this.#leftOut = 0;
  }

  /** Takes no more lines. Resolves once the output has taken those before. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.report();
    await new Promise<unknown>((resolve) => this.output.write('', resolve));
  }
}

/** Opens a file to write to. Closes the server if there is none. */
async function opened(file: string, server: Server): Promise<WriteStream> {
  const output = createWriteStream(file);
  await once(output, 'open').catch((error: unknown) => {
    server.close();
    notUsable('a file to record to')(error);
  });
  output.on('error', ({ message }) => {
    process.stderr.write(`rxmux tap: ${message}\n`);
    process.exit(Exit.CONNECTION);
  });
  return output;
}
