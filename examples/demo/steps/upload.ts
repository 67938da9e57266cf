import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { firstValueFrom } from 'rxjs';
import type { Stream } from 'rxmux';
import { size } from '../figures.js';
import type { Step } from '../step.js';

/** Bytes as the codec carries them: msgpack as bytes, JSON as text. */
type Chunk = Uint8Array | string;

interface Receipt {
  readonly chunks: number;
  readonly bytes: number;
}

const CHUNK_BYTES = 16 * 1024;

/** The dialer sends as fast as the server reads. The trailers carry the hash, which is known only at the end. */
export const upload: Step = {
  title: 'a file is uploaded in chunks, and its SHA-256 comes back in the trailers',
  file: 'steps/upload.ts',
  checked: 'the trailers have the size and the SHA-256 of the file',

  answers: {
    async upload(_job, stream: Stream<Chunk, Receipt>) {
      const hash = createHash('sha256');
      let chunks = 0;
      let bytes = 0;
      for await (const chunk of stream) {
        const data = typeof chunk === 'string' ? Buffer.from(chunk, 'base64') : chunk;
        hash.update(data);
        chunks++;
        bytes += data.length;
      }
      await stream.reply({ chunks, bytes }, { trailers: { sha256: hash.digest('hex') } });
    },
  },

  async run(peer, terminal) {
    const { path, bytes } = largestFile();
    const stream = peer.open<Receipt, Chunk>({ op: 'upload', path });
    await stream.sendAll(chunksOf(path, peer.codec.binary, (sent) => terminal.progress(sent / bytes, `${size(sent)} of ${path}`)));
    const receipt = await firstValueFrom(stream);

    const expected = createHash('sha256').update(readFileSync(path)).digest('hex');
    terminal.line(`${path}, ${size(bytes)} in ${receipt.chunks} chunks`);
    terminal.line(`the server's SHA-256 ${String(stream.trailers?.['sha256'])}`);
    terminal.line(`and node:crypto's    ${expected}`);
    assert.equal(receipt.bytes, bytes);
    assert.deepEqual(stream.trailers, { sha256: expected });
  },
};

async function* chunksOf(path: string, binary: boolean, progress: (sent: number) => void): AsyncGenerator<Chunk> {
  let sent = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    yield binary ? chunk : chunk.toString('base64');
    progress((sent += chunk.length));
  }
}

/** The largest file that the repository tracks; without git, its lock file. */
function largestFile(): { readonly path: string; readonly bytes: number } {
  const files = trackedFiles().map((path) => ({ path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 }));
  return files.reduce((largest, file) => (file.bytes > largest.bytes ? file : largest));
}

function trackedFiles(): string[] {
  const { status, stdout } = spawnSync('git', ['ls-files', '-z'], { encoding: 'utf8' });
  return status === 0 ? stdout.split('\0').filter((path) => path !== '') : ['package-lock.json'];
}
