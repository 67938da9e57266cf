import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Stream } from 'rxmux';
import { isSystemError, UsageError } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { COMMON_HELP, payloadOf, settingsOf } from './settings.js';
import type { CallSettings } from './settings.js';
import { printPayload, withPeer } from './with-peer.js';

export const help = `rxmux upload: sends a file on a stream, and prints the answers

USAGE
  rxmux upload [options] URL FILE

The file leaves in pieces of at most 64 KiB: bytes under msgpack, and texts in
base64 under json. With - as FILE, the standard input leaves as it comes. A
terminal shows the progress.

OPTIONS
  --payload PAYLOAD open the stream with this payload (default none)
  --text            the payload is a text, and no JSON
${COMMON_HELP}
EXAMPLES
  rxmux upload --payload '["photos.add","cat"]' ws://127.0.0.1:8080 cat.jpg
  tar c photos | rxmux upload --payload '["backups.add"]' ws://127.0.0.1:8080 -
`;

const PIECE_BYTES = 65_536;

/** Runs `rxmux upload`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const settings = settingsOf(args, 1, { payload: { type: 'string' } });
  const [path] = settings.rest;
  if (path === undefined) throw new UsageError('expected a file to upload, got none');
  const payload = await payloadOf(settings.own['payload'] as string | undefined, settings);
  const size = await sizeOf(path);
  return withPeer(settings, async (peer) => {
    const stream = peer.open(payload);
    const pieces = piecesOf(path, size, settings);
    await Promise.all([stream.sendAll(pieces).catch(onlyOfTheFile), printAnswers(stream, settings)]);
  });
}

/** The size of a file; `null` of the standard input, a pipe or a device. */
async function sizeOf(path: string): Promise<number | null> {
  if (path === '-') return null;
  const found = await stat(path).catch((error: unknown) => {
    throw new UsageError(`expected a file: ${(error as Error).message}`);
  });
  if (found.isDirectory()) throw new UsageError(`expected a file, got the directory '${path}'`);
  return found.isFile() ? found.size : null;
}

/** Passes on only a failure to read the file. The stream itself reports each other failure. */
function onlyOfTheFile(error: unknown): void {
  if (isSystemError(error)) throw error;
}

async function printAnswers(stream: Stream, settings: CallSettings): Promise<void> {
  for await (const answer of stream) printPayload(answer, settings);
}

async function* piecesOf(path: string, size: number | null, { codec, json }: CallSettings): AsyncIterable<Buffer | string> {
  const pieces: AsyncIterable<Buffer> = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: PIECE_BYTES });
  const showsProgress = !json && process.stderr.isTTY;
  let sent = 0;
  for await (const piece of pieces) {
    sent += piece.byteLength;
    if (showsProgress) process.stderr.write(`\r${progressOf(sent, size)}`);
    yield codec === 'msgpack' ? piece : piece.toString('base64');
  }
  if (showsProgress && sent > 0) process.stderr.write('\n');
}

function progressOf(sent: number, size: number | null): string {
  return size === null ? `${sent} bytes` : `${Math.floor((100 * sent) / Math.max(size, sent))} % of ${size} bytes`;
}
