import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Stream } from 'rxmux';
import { isSystemError, notUsable, UsageError } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { calling } from './calling.js';
import { COMMON_HELP } from './settings.js';
import type { CallSettings } from './settings.js';
import { printPayload, withPeer } from './with-peer.js';

export const help = `rxmux upload: sends a file on a stream, and prints the answers

USAGE
  rxmux upload [options] URL [NAME] FILE

The file leaves in pieces of at most 64 KiB: bytes under msgpack and rich, and
texts in base64 under json. With - as FILE, the standard input leaves as it comes. A
terminal shows the progress.

OPTIONS
  --payload PAYLOAD open the stream with this payload, after the name if there
                    is one (default none)
  --text            the payload is a text, and no JSON
${COMMON_HELP}
EXAMPLES
  rxmux upload --payload '{"of":"cat"}' ws://127.0.0.1:8080 photos.add cat.jpg
  tar c photos | rxmux upload ws://127.0.0.1:8080 backups.add -
`;

const PIECE_BYTES = 65_536;

/** Runs `rxmux upload`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  return calling(args, { kinds: ['upload', 'channel'], last: 'file', options: { payload: { type: 'string' } } }, uploadFile);
}

async function uploadFile(settings: CallSettings, payload: unknown): Promise<ExitStatus> {
  const { rest: path } = settings;
  if (path === undefined) throw new UsageError('expected a file to upload, got none');
  const size = await sizeOf(path);
  try {
    return await withPeer(settings, async (peer) => {
      const stream = peer.open(payload);
      const progress = new ProgressLine(size, !settings.json && process.stderr.isTTY);
      const sending = stream.sendAll(piecesOf(path, settings, progress));
      try {
        await Promise.all([sending.catch(onlyOfTheFile), printAnswers(stream, settings, progress)]);
        // The remote may fail after its answer.
        await sending;
      } finally {
        progress.endLine();
        // A piece may still be on its way out of the file.
        progress.isShown = false;
      }
    });
  } finally {
    // A pending read would keep the process until somebody ends the input.
    if (path === '-') process.stdin.destroy();
  }
}

/** The size of a file; `null` of the standard input, a pipe or a device. */
async function sizeOf(path: string): Promise<number | null> {
  if (path === '-') {
    if (process.stdin.readableEnded) throw new UsageError('expected a file, got the standard input, which is the payload');
    return null;
  }
  const found = await stat(path).catch(notUsable('a file'));
  if (found.isDirectory()) throw new UsageError(`expected a file, got the directory '${path}'`);
  return found.isFile() ? found.size : null;
}

/** Passes on only a failure to read the file: the answers before any other failure are printed. */
function onlyOfTheFile(error: unknown): void {
  if (isSystemError(error)) throw error;
}

async function printAnswers(stream: Stream, settings: CallSettings, progress: ProgressLine): Promise<void> {
  for await (const answer of stream) {
    progress.endLine();
    await printPayload(answer, settings);
  }
}

async function* piecesOf(path: string, { codec }: CallSettings, progress: ProgressLine): AsyncIterable<Buffer | string> {
  const pieces: AsyncIterable<Buffer> = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: PIECE_BYTES });
  for await (const piece of pieces) {
    progress.sent(piece.byteLength);
    yield codec === 'json' ? piece.toString('base64') : piece;
  }
  progress.endLine();
}

/** Shows in a terminal how much has been sent. Each time it writes over its line, until another line has to follow. */
class ProgressLine {
  #bytes = 0;
  #isBegun = false;

  constructor(
    private readonly size: number | null,
    public isShown: boolean,
  ) {}

  sent(bytes: number): void {
    this.#bytes += bytes;
    if (!this.isShown) return;
    this.#isBegun = true;
    process.stderr.write(`\r${this.#text()}`);
  }

  endLine(): void {
    if (this.#isBegun) process.stderr.write('\n');
    this.#isBegun = false;
  }

  #text(): string {
    const { size } = this;
    return size === null ? `${this.#bytes} bytes` : `${Math.floor((100 * this.#bytes) / Math.max(size, this.#bytes))} % of ${size} bytes`;
  }
}
