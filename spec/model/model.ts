import { isDeepStrictEqual } from 'node:util';
import type { CloseCause } from '../../src/stream/end.js';
import { overtakes } from '../../src/stream/end.js';
import type { StreamPhase } from '../../src/stream/state.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame, FrameDirection, Metadata } from '../../src/wire/frame.js';
import { ResetCode } from '../../src/wire/codes.js';
import { demand } from './violation.js';
import type { Findings } from './violation.js';

/** One side of one stream, derived from its frames: its state, and what the other side must receive. */
export class StreamModel {
  /** Payloads that this side was allowed to send after an open, in order. */
  readonly accepted: unknown[] = [];
  /** Payloads that have arrived after an open, in order. */
  readonly arrived: unknown[] = [];
  /** The headers of this side's first frame and the trailers of its end; `null` for none. */
  headers: Metadata | null = null;
  trailers: Metadata | null = null;
  /** Whether the first answer was accepted, which carries the headers. */
  answered = false;
  #begun = false;
  #reset = false;
  #ended = false;
  #remoteEnded = false;

  constructor(
    /** Whether this side opened the stream. */
    readonly local: boolean,
  ) {}

  get remoteEnded(): boolean {
    return this.#remoteEnded;
  }

  /** The state of the stream by its frames. A loss closes a stream without a frame, and does not count here. */
  get phase(): StreamPhase {
    if (this.#reset || (this.#ended && this.#remoteEnded)) return 'closed';
    if (!this.#begun) return 'idle';
    if (this.#ended) return 'halfClosedLocal';
    return this.#remoteEnded ? 'halfClosedRemote' : 'open';
  }

  observe(direction: FrameDirection, { type, end = false, more = false }: Frame): void {
    if (type === 'open') this.#begun ||= this.local || !more;
    const last = end && !more;
    if (type === 'reset') this.#reset ||= !more;
    else if (direction === 'tx') this.#ended ||= last;
    else this.#remoteEnded ||= last;
  }
}

/** The facts about one side of a stream that the other side has to match. */
export interface Half {
  readonly model: StreamModel;
  readonly cause: CloseCause | null;
  /** Whether the codec of this side has failed while it encoded. */
  readonly broke: boolean;
  readonly name: string;
}

/** Checks the values that `here` has received from `there`. */
export function checkReceived(here: Half, there: Half): void {
  const { arrived } = here.model;
  const { accepted } = there.model;
  demand(isPrefix(arrived, accepted), 'payloads in order', () => `${here.name} got ${show(arrived)} of ${show(accepted)}`);
  if (!isWhole(here, there)) return;
  demand(
    arrived.length === accepted.length,
    'payloads complete',
    () => `${here.name} got ${arrived.length} of ${accepted.length}, and ended: ${show(here.cause)}`,
  );
}

/** Whether all values that `there` accepted must have arrived: both sides ended, or a reset waited for its turn. */
function isWhole(here: Half, there: Half): boolean {
  const { cause } = here;
  if (cause?.how === 'ended') return there.cause?.how === 'ended';
  return cause?.how === 'reset' && cause.by === 'remote' && !overtakes(cause.code) && !there.broke;
}

/** Checks that the end of `here` matches the end of `there`. */
export function checkAgreement(here: Half, there: Half): void {
  const [a, b] = [here.cause, there.cause];
  if (a === null || b === null || a.how === 'lost' || b.how === 'lost') return;
  const told = (): string => `${here.name} has ${show(a)}, ${there.name} has ${show(b)}`;
  if (a.how === 'ended') demand(b.how === 'ended' || b.by !== 'remote', 'both sides agree', told);
  else if (a.by === 'remote') {
    const same = b.how === 'reset' && b.by !== 'remote' && b.code === a.code;
    demand(same || (there.broke && a.code === ResetCode.INTERNAL_ERROR), 'both sides agree', told);
  }
}

/** The order of sending: a stream with a queued frame waits for at most one slice of each other stream. */
export class Turns {
  /** The queued frames of each stream, and the streams that have sent a slice since its own last slice. */
  readonly #waiting = new Map<number, { frames: number; readonly passedBy: Set<number> }>();

  constructor(private readonly findings: Findings) {}

  accepted(stream: number): void {
    const waiting = this.#waiting.get(stream);
    if (waiting === undefined) this.#waiting.set(stream, { frames: 1, passedBy: new Set() });
    else waiting.frames++;
  }

  /** The last frame was not accepted after all. */
  revoked(stream: number): void {
    const waiting = this.#waiting.get(stream);
    if (waiting !== undefined && --waiting.frames === 0) this.#waiting.delete(stream);
  }

  gone(stream: number): void {
    this.#waiting.delete(stream);
  }

  /** A slice of an open or a data frame leaves. */
  sent(stream: number, more: boolean): void {
    for (const [other, { passedBy }] of this.#waiting) {
      if (other === stream) continue;
      this.findings.note(!passedBy.has(stream), 'fairness', () => `stream ${stream} had two slices while stream ${other} waited for one`);
      passedBy.add(stream);
    }
    const own = this.#waiting.get(stream);
    if (own === undefined) return;
    own.passedBy.clear();
    if (!more && --own.frames === 0) this.#waiting.delete(stream);
  }
}

/** Whether `some` are the first of `all`, in order. */
export function isPrefix(some: readonly unknown[], all: readonly unknown[]): boolean {
  return some.length <= all.length && some.every((value, at) => isDeepStrictEqual(value, all[at]));
}

/** A value as a line of text, cut when it is long. */
export function show(value: unknown): string {
  const text = JSON.stringify(value, (_, inner: unknown) => (inner === ABSENT ? 'absent' : inner)) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
