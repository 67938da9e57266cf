import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { UsageError } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { COMMON_HELP, payloadOf, settingsOf } from './settings.js';
import type { CallSettings } from './settings.js';
import { printPayload, withPeer } from './with-peer.js';

export const help = `rxmux upload: sends a file on a stream, and prints the answers

USAGE
  rxmux upload [options] URL FILE

The file leaves in pieces of 64 KiB: bytes under msgpack, and texts in base64
under json. A terminal shows the progress.

OPTIONS
  --payload PAYLOAD open the stream with this payload (default none)
  --text            the payload is a text, and no JSON
${COMMON_HELP}
EXAMPLES
  rxmux upload --payload '["photos.add","cat"]' ws://127.0.0.1:8080 cat.jpg
`;

const PIECE_BYTES = 65_536;

/** Runs `rxmux upload`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const settings = settingsOf(args, 1, { payload: { type: 'string' } });
  const [path] = settings.rest;
  if (path === undefined) throw new UsageError('expected a file to upload, got none');
  const payload = await payloadOf(settings.own['payload'] as string | undefined, settings);
  const { size } = await stat(path).catch((error: unknown) => {
    throw new UsageError(`expected a file: ${(error as Error).message}`);
  });
  return withPeer(settings, async (peer) => {
    const stream = peer.open(payload);
    void stream.sendAll(piecesOf(path, size, settings));
    for await (const answer of stream) printPayload(answer, settings);
  });
}

async function* piecesOf(path: string, size: number, { codec, json }: CallSettings): AsyncIterable<Buffer | string> {
  const pieces: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: PIECE_BYTES });
  let sent = 0;
  for await (const piece of pieces) {
    sent += piece.byteLength;
    if (!json && process.stderr.isTTY)
      process.stderr.write(`\r${Math.floor((100 * sent) / size)} % of ${size} bytes${sent === size ? '\n' : ''}`);
    yield codec === 'msgpack' ? piece : piece.toString('base64');
  }
}
