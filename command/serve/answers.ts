import { createReadStream } from 'node:fs';
import { resolve, sep } from 'node:path';
import { RefusedError } from 'rxmux';
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
    if (name === 'file' && directory !== null) return sendFile(pathBelow(directory, String(value)), stream, binary);
    return echo(payload, stream);
  };
}

/** Sends the payload of the open, and then each payload that comes. */
async function echo(payload: unknown, stream: Stream): Promise<void> {
  if (stream.hasPayload) await stream.send(payload);
  await stream.sendAll(stream);
}

/** @throws RefusedError for a path that leaves the directory */
function pathBelow(directory: string, path: string): string {
  const root = resolve(directory);
  const found = resolve(root, `.${sep}${path}`);
  if (found.startsWith(root + sep)) return found;
  throw new RefusedError(`expected a path below the served directory, got '${path}'`);
}

function sendFile(path: string, stream: Stream, binary: boolean): Promise<void> {
  const pieces: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: PIECE_BYTES });
  return stream.sendAll(binary ? pieces : inBase64(pieces));
}

async function* inBase64(pieces: AsyncIterable<Buffer>): AsyncIterable<string> {
  for await (const piece of pieces) yield piece.toString('base64');
}
