import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { ResetCode } from 'rxmux';
import type { Stream, StreamHandler } from 'rxmux';
import { AGREED } from './agreed.js';

const PIECE_BYTES = 65_536;

/**
 * Answers files, the agreed payloads of a check, and everything else with itself.
 *
 * @param directory the files to serve; `null` for none
 * @param binary whether the codec has bytes
 */
export function answerTo(directory: string | null, binary: boolean): StreamHandler {
  return (payload: unknown, stream) => {
    const [name, value] = Array.isArray(payload) ? (payload as unknown[]) : [];
    const agreed = typeof name === 'string' && Object.hasOwn(AGREED, name) ? AGREED[name] : undefined;
    if (agreed !== undefined) return agreed(value, stream);
    if (name === 'file' && directory !== null) return sendFile(directory, String(value), stream, binary);
    return echo(payload, stream);
  };
}

/** Sends the payload of the open, and then each payload that comes. */
async function echo(payload: unknown, stream: Stream): Promise<void> {
  if (stream.hasPayload) await stream.send(payload);
  await stream.sendAll(stream);
}

/** Sends a file, and refuses a path that leaves the directory. */
function sendFile(directory: string, path: string, stream: Stream, binary: boolean): Promise<void> | undefined {
  const root = resolve(directory);
  const found = resolve(root, `.${sep}${path}`);
  if (!found.startsWith(root + sep)) {
    stream.reset(ResetCode.REFUSED, 'expected a path below the served directory');
    return undefined;
  }
  return stream.sendAll(piecesOf(found, path, binary));
}

/** Reads a file. An error of the system would show the remote where the directory is. */
async function* piecesOf(found: string, path: string, binary: boolean): AsyncIterable<Buffer | string> {
  const file = await stat(found).catch(() => null);
  if (file?.isFile() !== true) throw new Error(`no file '${path}'`);
  const pieces: AsyncIterable<Buffer> = createReadStream(found, { highWaterMark: PIECE_BYTES });
  for await (const piece of pieces) yield binary ? piece : piece.toString('base64');
}
