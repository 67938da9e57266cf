import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { lastValueFrom, Subject, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { describeLine, play, readLines, writeLine } from 'rxmux/inspect';
import type { Line, RecordedFrame } from 'rxmux/inspect';
import { WebSocket } from 'ws';
import { addressOf } from '../address.js';
import { Exit, UsageError } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { headersOf, numberOf } from '../headers.js';
import { rawCodec } from '../raw-codec.js';
import type { RawCodec } from '../raw-codec.js';

export const help = `rxmux replay: sends the dialer's frames of a recording again

USAGE
  rxmux replay [options] FILE URL

FILE comes from "rxmux tap --record FILE --payloads", or from record() of
rxmux/inspect. One connection is replayed, frame by frame. The command shows
what comes back, and ends when as many frames of streams have come back as in
the recording.

OPTIONS
  --connection N    replay this connection (default 1)
  --speed N         so many times as fast as recorded (default 1; 0 is at once)
  --codec NAME      json or msgpack (default json)
  --timeout MS      wait so long for the missing frames (default 10000)
  -H 'NAME: VALUE'  send a header with the handshake; may come repeatedly
  --json            print one JSON object a line, as rxmux tap does
  -h, --help        print this page

EXIT STATUS
  0  all frames came back    5  some did not come in time
  2  wrong arguments         6  no connection, or a lost one

EXAMPLES
  rxmux replay run.ndjson ws://127.0.0.1:8080
`;

const OF_STREAMS: ReadonlySet<unknown> = new Set(['open', 'data', 'reset']);

interface Settings {
  readonly url: string;
  readonly lines: readonly Line[];
  readonly connection: number;
  readonly speed: number;
  readonly codec: RawCodec;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly json: boolean;
}

/** Runs `rxmux replay`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const { url, lines, connection, speed, codec, headers, timeoutMs, json } = await settingsOf(args);
  const heard$ = new Subject<RecordedFrame>();
  const frames$ = played(lines, connection, speed, heard$);
  const socket = new WebSocket(url, `mux.v1.${codec.name}`, { headers, perMessageDeflate: false });
  const began = performance.now();
  let missing = lines.filter(({ c, d, f }) => c === connection && d === '<' && OF_STREAMS.has(f?.['type'])).length;
  const ended = new Promise<ExitStatus>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const f = codec.decode(codec.binary ? data : data.toString()) as RecordedFrame;
      const line: Line = { v: 1, t: Math.round(performance.now() - began), c: 1, d: '<', f };
      process.stdout.write(`${json ? writeLine(line) : describeLine(line)}\n`);
      heard$.next(f);
      if (OF_STREAMS.has(f['type']) && --missing === 0) resolve(Exit.OK);
    });
    socket.on('close', () => {
      resolve(missing > 0 ? Exit.CONNECTION : Exit.OK);
    });
    socket.on('error', ({ message }) => {
      process.stderr.write(`rxmux replay: ${message}\n`);
      resolve(Exit.CONNECTION);
    });
  });
  heard$.subscribe(({ type, nonce }) => {
    if (type === 'ping') socket.send(codec.encode({ type: 'pong', nonce }));
  });
  const sent = once(socket, 'open').then(async () => {
    await lastValueFrom(frames$.pipe(tap((frame) => socket.send(codec.encode(frame)))), { defaultValue: null });
    if (missing === 0) return Exit.OK;
    await pause(timeoutMs, undefined, { ref: false });
    return Exit.TIMEOUT;
  });
  const status = await Promise.race([missing === 0 ? sent : ended, sent.catch(() => ended)]);
  socket.terminate();
  return status;
}

async function settingsOf(args: readonly string[]): Promise<Settings> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      connection: { type: 'string', default: '1' },
      speed: { type: 'string', default: '1' },
      codec: { type: 'string', default: 'json' },
      timeout: { type: 'string', default: '10000' },
      json: { type: 'boolean', default: false },
      header: { type: 'string', short: 'H', multiple: true },
    },
  });
  const [file = '', ...rest] = positionals;
  const url = addressOf(rest);
  const codec = await rawCodec(values.codec);
  if (codec === null) throw new UsageError(`expected the codec json, or msgpack with @msgpack/msgpack installed, got '${values.codec}'`);
  return {
    url,
    lines: await linesOf(file),
    connection: numberOf('connection', values.connection),
    speed: numberOf('speed', values.speed),
    codec,
    headers: headersOf(values.header),
    timeoutMs: numberOf('timeout', values.timeout),
    json: values.json,
  };
}

async function linesOf(file: string): Promise<readonly Line[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`expected a recording: ${(error as Error).message}`);
  });
  return understood(() => readLines(text));
}

function played(lines: readonly Line[], connection: number, speed: number, heard$: Observable<RecordedFrame>): Observable<RecordedFrame> {
  return understood(() => play(lines, { side: 'dialer', connection, speed: speed === 0 ? Infinity : speed, heard$ }));
}

/** Reports an error of a recording as one of the arguments. */
function understood<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${(error as Error).message}. rxmux tap --record FILE --payloads makes a recording`);
  }
}
