import assert from 'node:assert/strict';
import { map, scan, takeUntil } from 'rxjs';
import type { Subscription } from 'rxjs';
import { encodedLength, ofDirection, ofStream } from 'rxmux';
import type { Peer, Stream } from 'rxmux';
import { seconds, size, spread } from '../figures.js';
import type { Step } from '../step.js';
import type { Terminal } from '../terminal.js';

/** More than a receiver accepts by default: the server raises two limits for it. */
export const CARGO_BYTES = 64 * 1024 * 1024;

const IDLE_REQUESTS = 200;
/** Without slices, at most one request would be answered before the cargo. */
const LEAST_OVERTAKING = 5;

/** One payload of 64 MiB, cut into slices. Other streams send between the slices. */
export const overtaking: Step = {
  title: `small requests overtake ${size(CARGO_BYTES)}`,
  file: 'steps/overtaking.ts',
  checked: `the cargo arrives as it was sent, and at least ${LEAST_OVERTAKING} small answers come before its own`,

  answers: {
    cargo({ cargo }: { readonly cargo: string | Uint8Array }, stream) {
      return stream.reply(isIntact(cargo));
    },
    echo({ n }: { readonly n: number }, stream) {
      return stream.reply(n);
    },
  },

  async run(peer, terminal) {
    const idle = await waits(peer, (answered) => answered < IDLE_REQUESTS);
    terminal.line(`idle: ${idle.length} small requests, one after the other, waited ${spread(idle)}`);

    const cargo = newCargo(peer.codec.binary);
    const begun = performance.now();
    let arrived = false;
    const intact = peer
      .request<boolean>({ op: 'cargo', cargo }, { timeoutMs: 0, onOpen: (stream) => showProgress(stream, terminal) })
      .finally(() => (arrived = true));
    const racing = await waits(peer, () => !arrived);
    assert.ok(await intact, 'expected the cargo to arrive as it was sent');

    const ms = performance.now() - begun;
    terminal.line(`${size(CARGO_BYTES)} arrived after ${seconds(ms)}, ${size((CARGO_BYTES / ms) * 1_000)}/s with encoding and decoding`);
    terminal.line(`meanwhile: ${racing.length} small requests, one after the other, waited ${spread(racing)}`);
    terminal.line(`without multiplexing, a request sent with the cargo would have waited ${seconds(ms)} for it`);
    assert.ok(racing.length >= LEAST_OVERTAKING, `expected ${LEAST_OVERTAKING} answers before the cargo's, got ${racing.length}`);
  },
};

/** Returns how long each of some requests waited, in ms. */
async function waits(peer: Peer, more: (answered: number) => boolean): Promise<number[]> {
  const waited: number[] = [];
  while (more(waited.length)) {
    const asked = performance.now();
    const n = waited.length;
    assert.equal(await peer.request({ op: 'echo', n }), n);
    waited.push(performance.now() - asked);
  }
  return waited;
}

function showProgress(stream: Stream, terminal: Terminal): Subscription {
  const slices$ = stream.peer.frames$.pipe(ofDirection('tx'), ofStream(stream.id ?? 0), takeUntil(stream.closed));
  const sent$ = slices$.pipe(
    map(({ frame }) => encodedLength(frame.fragment ?? '')),
    scan((sent, bytes) => sent + bytes, 0),
  );
  return sent$.subscribe((sent) => {
    terminal.progress(sent / CARGO_BYTES, `${size(sent)} sent`);
  });
}

function newCargo(binary: boolean): string | Uint8Array {
  return binary ? new Uint8Array(CARGO_BYTES).fill(0x5a) : 'Z'.repeat(CARGO_BYTES);
}

function isIntact(cargo: string | Uint8Array): boolean {
  return typeof cargo === 'string' ? cargo === newCargo(false) : Buffer.from(cargo.buffer).equals(newCargo(true) as Uint8Array);
}
