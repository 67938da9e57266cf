import { catchError, lastValueFrom, map, NEVER, takeUntil, tap } from 'rxjs';
import { log } from '../logger.js';
import type { StreamHandler } from '../peer/hooks.js';
import { checkPeer } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import type { Stream } from '../stream/stream.js';
import { atLeast, checkFunction, checkOptions, describeReceived, readOptions } from '../util/check.js';
import type { Options, Used } from '../util/check.js';
import { ResetCode } from '../wire/codes.js';
import type { InspectorBatch, InspectorFeed, InspectorLine } from './batch.js';
import { hiddenStreamsOf } from './hidden-streams.js';
import type { Inspection } from './inspect.js';
import { isLarge, readLine, withoutContent, writeLine } from './recording.js';

const MIB = 1_048_576;
/** The most bytes of shown payloads that wait for a slow viewer. */
const MAX_WAITING_BYTES = 16 * MIB;
/** The most bytes of shown payloads in a batch of several lines. */
const MAX_PART_BYTES = MIB;
/** A longer line is sent without its payload. */
const MAX_ROW_LENGTH = 2 * MIB;

/** A viewer opens its stream with this payload, and sends whether it wants payloads. */
const OPENED_WITH = 'rxmux.inspect';

/** A batch on the wire: its lines are rows of a recording, so that any codec carries them. */
interface WireBatch extends Omit<InspectorBatch, 'lines'> {
  readonly rows: readonly string[];
}

/** The access of inspectors. */
export interface InspectorAnswerOptions {
  /**
   * Decides for each viewer, by its peer or the headers of its stream. Only `true` admits it. Any verdict but `true` and `false` is a
   * mistake, such as a status or an error, and is logged.
   */
  readonly verify: (stream: Stream) => boolean | Promise<boolean>;
  /** The most lines that wait for a slow viewer, beside 16 MiB of shown payloads; later ones are dropped and counted. Default 5 000. */
  readonly maxWaitingLines?: number | undefined;
}

/** Declares the options of answers to inspectors. */
const INSPECTOR_ANSWER_OPTIONS: Options<InspectorAnswerOptions, Used<InspectorAnswerOptions>> = {
  verify: [checkFunction, () => false],
  maxWaitingLines: [atLeast(1), 5_000],
};

/**
 * Answers inspectors that watch this server over rxmux itself: the handler of `serve`, or a part of it. Once admitted, a viewer's own
 * stream is left out. For a viewer that reads too slowly, lines are dropped and counted.
 *
 * Streams with another payload are REFUSED, and so is a viewer that `verify` does not accept.
 *
 * @throws TypeError for a bad option
 *
 * @example
 * ```ts
 * const inspection = inspect(server, { historyMs: 0 });
 * const verify = ({ peer }: Stream) => peer.context.isAdmin === true;
 * serve({ port: 8081, host: '127.0.0.1', handler: answerInspector(inspection, { verify }) });
 * ```
 */
export function answerInspector(inspection: Inspection, options: InspectorAnswerOptions): StreamHandler {
  checkOptions(options, INSPECTOR_ANSWER_OPTIONS);
  checkFunction('verify', options.verify);
  const { verify, maxWaitingLines } = readOptions(INSPECTOR_ANSWER_OPTIONS, options);
  return async (payload, stream) => {
    if (!isViewer(payload)) {
      stream.reset(ResetCode.REFUSED, 'expected an inspector');
      return;
    }
    const verdict: unknown = await verify(stream);
    if (verdict === true) {
      await new Viewer(inspection, stream, maxWaitingLines).watch();
      return;
    }
    if (verdict !== false) {
      const error = new TypeError(`verify: expected true or false, got ${describeReceived(verdict)}`);
      log('error', 'an inspector was refused, because its verdict has no meaning', error);
    }
    stream.reset(ResetCode.REFUSED, 'this inspector may not look');
  };
}

/** Whether a stream was opened by {@link inspectorFeed}. */
function isViewer(payload: unknown): boolean {
  return Array.isArray(payload) && payload[0] === OPENED_WITH;
}

/**
 * The feed of a server that answers with {@link answerInspector}. Each subscription opens a stream.
 *
 * @throws TypeError unless `peer` is a peer
 *
 * @example
 * ```ts
 * const feed = inspectorFeed(connect('ws://127.0.0.1:8081'));
 * feed(of(false)).subscribe(({ lines, dropped }) => console.log(lines.length, dropped));
 * ```
 */
export function inspectorFeed(peer: Peer): InspectorFeed {
  checkPeer('inspectorFeed', peer, 'open$');
  return (payloads$) => peer.open$<WireBatch, boolean>([OPENED_WITH], { input: payloads$, timeoutMs: 0 }).pipe(map(fromWire));
}

/** One viewer of a server. */
class Viewer {
  #waiting: InspectorBatch | null = null;
  /** `null` while no batch is on its way. */
  #sending: Promise<void> | null = null;

  constructor(
    private readonly inspection: Inspection,
    private readonly stream: Stream,
    private readonly maxWaitingLines: number,
  ) {}

  /** Sends batches until the viewer or the inspection ends. */
  async watch(): Promise<void> {
    const { peer, id, closed } = this.stream;
    const hidden = hiddenStreamsOf(peer);
    if (id !== null) hidden.add(id);
    const payloads$ = this.stream.pipe(
      map((value) => value === true),
      catchError(() => NEVER),
    );
    const batches$ = this.inspection.feed(payloads$).pipe(
      tap((batch) => {
        this.#add(batch);
      }),
      takeUntil(closed),
    );
    await lastValueFrom(batches$, { defaultValue: null });
    // The last batches wait for a slow viewer, and the end of the stream must not overtake them.
    await this.#sending;
    if (id !== null) hidden.delete(id);
  }

  #add(batch: InspectorBatch): void {
    this.#waiting = this.#waiting === null ? batch : joined(this.#waiting, batch, this.maxWaitingLines);
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    try {
      while (this.#waiting !== null) {
        const batch = this.#waiting;
        this.#waiting = null;
        for (const part of partsOf(batch, this.maxWaitingLines)) await this.stream.send(toWire(part));
      }
    } catch (error) {
      if (this.stream.cause === null) log('warn', 'an inspector could not be sent a batch', error);
    }
    this.#sending = null;
  }
}

/** Cuts a batch, because a long history or large payloads as one payload could be over the viewer's limit. */
function* partsOf({ lines, dropped, ...batch }: InspectorBatch, most: number): IterableIterator<InspectorBatch> {
  let at = 0;
  do {
    const next = lines.slice(at, at + most);
    const count = Math.max(1, countWithin(next, MAX_PART_BYTES));
    yield { ...batch, lines: next.slice(0, count), dropped: at === 0 ? dropped : 0 };
    at += count;
  } while (at < lines.length);
}

function joined(one: InspectorBatch, next: InspectorBatch, most: number): InspectorBatch {
  const lines = [...one.lines, ...next.lines];
  const kept = lines.slice(0, Math.min(most, countWithin(lines, MAX_WAITING_BYTES)));
  // No later batch names them.
  const left = one.peers.filter(({ state }) => state === 'closed').slice(-most);
  return { ...next, peers: [...next.peers, ...left], lines: kept, dropped: one.dropped + next.dropped + lines.length - kept.length };
}

/** How many of the first lines hold no more bytes than `most`. A small line counts as none. */
function countWithin(lines: readonly InspectorLine[], most: number): number {
  let bytes = 0;
  const beyond = lines.findIndex((line) => (bytes += isLarge(line) ? (line.b ?? 0) : 0) > most);
  return beyond < 0 ? lines.length : beyond;
}

function toWire({ lines, ...batch }: InspectorBatch): WireBatch {
  return { ...batch, rows: lines.map(rowOf) };
}

/** Writes a line. Of a very large one it writes the sizes alone. */
function rowOf(line: InspectorLine): string {
  const row = writeLine(line);
  return row.length > MAX_ROW_LENGTH ? writeLine(withoutContent(line)) : row;
}

function fromWire({ rows, ...batch }: WireBatch): InspectorBatch {
  return { ...batch, lines: rows.map(readLine) };
}
