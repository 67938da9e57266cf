import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import {
  combineLatest,
  debounceTime,
  filter,
  firstValueFrom,
  fromEvent,
  ignoreElements,
  last,
  map,
  merge,
  share,
  startWith,
  Subject,
  switchMap,
  take,
  tap,
} from 'rxjs';
import type { Observable } from 'rxjs';
import type { Codec } from 'rxmux';
import { describeLine, play, readLines, writeLine } from 'rxmux/inspect';
import type { Line, RecordedFrame } from 'rxmux/inspect';
import { WebSocket } from 'ws';
import type { CloseEvent, ErrorEvent } from 'ws';
import { addressOf } from '../address.js';
import { codecNamed } from '../codec.js';
import { Exit, UsageError, notUsable } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { networkText, oneLine, safeJson } from '../output.js';
import { headersOf, LONGEST_MS, numberOf, timeoutOf } from '../headers.js';
import { envelopeOf, rawCodec } from '../raw-codec.js';
import type { RawCodec } from '../raw-codec.js';

export const help = `rxmux replay: sends the dialer's frames of a recording again

USAGE
  rxmux replay [options] FILE URL

FILE comes from "rxmux tap --record FILE --payloads", or from record() of
rxmux/inspect. One connection is replayed, frame by frame. The command shows
what comes back, and ends when all frames are sent, and as many came back.

OPTIONS
  --connection N    replay this connection (default 1)
  --speed N         N times as fast as recorded (default 1; 0 is at once)
  --codec NAME      json, rich or msgpack (default json)
  --timeout MS      wait so long for the next frame, beyond the longest pause of
                    the recording (default 10000; 0 waits without end)
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
  /** The lines of the connection. */
  readonly lines: readonly Line[];
  readonly connection: number;
  readonly speed: number;
  readonly codec: RawCodec;
  /** Encodes frames, and the values that record() has as they were passed. */
  readonly sent: Codec;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly json: boolean;
}

/** Runs `rxmux replay`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const settings = await settingsOf(args);
  const heard$ = new Subject<RecordedFrame>();
  const played$ = played(settings, heard$);
  const socket = dialled(settings);
  const closed = firstValueFrom(fromEvent(socket, 'close'));
  hear(socket, settings, heard$);
  const sent$ = fromEvent(socket, 'open').pipe(
    take(1),
    switchMap(() => played$),
    tap((frame) => {
      socket.send(settings.sent.encodePayload(frame));
    }),
    share(),
  );
  let missing = answersIn(settings);
  heard$.pipe(filter(isOfStream), take(missing)).subscribe(() => missing--);
  const all$ = combineLatest([
    sent$.pipe(last(null, null)),
    heard$.pipe(
      startWith(null),
      filter(() => missing === 0),
    ),
  ]);
  const patienceMs = Math.min(LONGEST_MS, settings.timeoutMs + longestPauseMs(settings));
  const silent = settings.timeoutMs === 0 ? ignoreElements() : debounceTime(patienceMs);
  const silence$ = merge(sent$, heard$).pipe(startWith(null), silent);
  const failed = (status: ExitStatus, why: string): ExitStatus => {
    process.stderr.write(`rxmux replay: ${oneLine(why)}. Frames that have not come back: ${missing}\n`);
    return status;
  };
  const status = await firstValueFrom(
    merge(
      all$.pipe(map((): ExitStatus => Exit.OK)),
      lost(socket).pipe(map((why) => failed(Exit.CONNECTION, why))),
      silence$.pipe(map(() => failed(Exit.TIMEOUT, `no frame came for ${Math.round(patienceMs)} ms`))),
    ),
  );
  if (status === Exit.OK) {
    // The last frames may be on their way. `ws` waits for the server's close, but not without end.
    socket.close();
    await closed;
  }
  socket.terminate();
  return status;
}

function dialled({ url, codec, headers }: Settings): WebSocket {
  const socket = new WebSocket(url, `mux.v1.${codec.name}`, { headers, perMessageDeflate: false });
  return socket.on('error', () => undefined);
}

/** Shows the frames that come, emits them, and answers pings. A slow reader of the output slows the server down. */
function hear(socket: WebSocket, { codec, json }: Settings, heard$: Subject<RecordedFrame>): void {
  const began = performance.now();
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    const f = envelopeOf(codec, data, isBinary);
    const line: Line = { v: 1, t: Math.round(performance.now() - began), c: 1, d: '<', f };
    if (!process.stdout.write(`${json ? safeJson(writeLine(line)) : describeLine({ ...line, b: data.byteLength })}\n`)) {
      socket.pause();
      process.stdout.once('drain', () => {
        socket.resume();
      });
    }
    if (f?.['type'] === 'ping') socket.send(codec.encode({ type: 'pong', nonce: f['nonce'] }));
    if (f !== null) heard$.next(f);
  });
}

/** Emits why there is no connection, or no more. */
function lost(socket: WebSocket): Observable<string> {
  return merge(
    fromEvent(socket, 'error').pipe(map((event) => networkText((event as ErrorEvent).error as Error).replace(/ 400$/, '$&: see --codec'))),
    fromEvent(socket, 'close').pipe(map((event) => `the server has closed the connection with ${(event as CloseEvent).code}`)),
  );
}

/** How many frames of streams came to the dialer in the recording. */
function answersIn({ lines }: Settings): number {
  return lines.filter(({ d, f }) => d === '<' && f !== null && isOfStream(f)).length;
}

/** The longest time between two frames of the recording, as it is replayed. */
function longestPauseMs({ lines, speed }: Settings): number {
  const longest = lines.reduce((most, { t }, nth) => Math.max(most, t - (lines[nth - 1]?.t ?? t)), 0);
  return speed === 0 ? 0 : longest / speed;
}

function isOfStream({ type }: RecordedFrame): boolean {
  return OF_STREAMS.has(type);
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
  if (codec === null)
    throw new UsageError(`expected the codec json, rich, or msgpack with @msgpack/msgpack installed, got '${values.codec}'`);
  const connection = numberOf('connection', values.connection);
  return {
    url,
    lines: (await linesOf(file)).filter(({ c }) => c === connection),
    connection,
    speed: numberOf('speed', values.speed),
    codec,
    sent: await codecNamed(values.codec),
    headers: headersOf(values.header),
    timeoutMs: timeoutOf(values.timeout, 0),
    json: values.json,
  };
}

async function linesOf(file: string): Promise<readonly Line[]> {
  const text = await readFile(file, 'utf8').catch(notUsable('a recording'));
  return understood(() => readLines(text));
}

/** The dialer's frames up to the last one of a stream, in their time. */
function played(settings: Settings, heard$: Observable<RecordedFrame>): Observable<RecordedFrame> {
  const { lines, connection, speed } = settings;
  const own = lines.flatMap(({ d, f, t }) => (d === '>' && f !== null ? [{ f, t }] : []));
  const end = own.filter(({ f }) => isOfStream(f)).at(-1)?.t ?? 0;
  return understood(() => {
    const frames$ = play(
      lines.filter(({ d, t }) => d === '<' || t <= end),
      { side: 'dialer', connection, speed: speed || Infinity, heard$ },
    );
    // Fails here, and not later on the clock.
    for (const { f } of own) settings.sent.encodePayload(f);
    return frames$;
  });
}

/** Reports an error of a recording as one of the arguments. */
function understood<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${(error as Error).message}. rxmux tap --record FILE --payloads makes a recording`);
  }
}
