import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { ResetCode } from 'rxmux';
import type { Stream, StreamHandler } from 'rxmux';
import { AGREED } from './agreed.js';

const PIECE_BYTES = 65_536;

/**
 * Answers files, the agreed payloads of a check, and everything else with itself.
 *
 * @param directory the directory of the files to serve, without links; `null` for none
 * @param hasBytes whether the codec carries bytes
 */
export function answerTo(directory: string | null, hasBytes: boolean): StreamHandler {
  return (payload: unknown, stream) => {
    const [name, value] = Array.isArray(payload) ? (payload as unknown[]) : [];
    const agreed = typeof name === 'string' && Object.hasOwn(AGREED, name) ? AGREED[name] : undefined;
    if (agreed !== undefined) return agreed(value, stream);
    if (name === 'file' && directory !== null) return sendFile(directory, String(value), stream, hasBytes);
    return echo(payload, stream);
  };
}

/** Sends the payload of the open, and then each payload that comes. */
async function echo(payload: unknown, stream: Stream): Promise<void> {
  if (stream.hasPayload) await stream.send(payload);
  await stream.sendAll(stream);
}

/** Sends a file, and refuses a path that leaves the directory. */
function sendFile(directory: string, path: string, stream: Stream, hasBytes: boolean): Promise<void> | undefined {
  const asked = resolve(directory, `.${sep}${path}`);
  if (!isBelow(directory, asked)) {
    stream.reset(ResetCode.REFUSED, 'expected a path below the served directory');
    return undefined;
  }
  return stream.sendAll(piecesOf(directory, asked, path, hasBytes));
}

function isBelow(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Reads a file. An error of the system would show the remote where the directory is. A link that leads out of it is no file either:
 * another answer would show what there is outside.
 */
async function* piecesOf(directory: string, asked: string, path: string, hasBytes: boolean): AsyncIterable<Buffer | string> {
  const found = await realpath(asked).catch(() => null);
  const file = found !== null && isBelow(directory, found) ? await stat(found).catch(() => null) : null;
  if (found === null || file?.isFile() !== true) throw new Error(`no file '${path}'`);
  const pieces: AsyncIterable<Buffer> = createReadStream(found, { highWaterMark: PIECE_BYTES });
  for await (const piece of pieces) yield hasBytes ? piece : piece.toString('base64');
}
