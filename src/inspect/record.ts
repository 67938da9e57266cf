import { catchError, EMPTY, identity, mergeMap, Subject, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { log } from '../logger.js';
import { peersOf } from '../peer/peers.js';
import type { PeersSource } from '../peer/peers.js';
import type { FrameEvent } from '../peer/events.js';
import type { Peer } from '../peer/peer.js';
import { checkBoolean, checkFunction, checkNumber, checkOptions, readOptions } from '../util/check.js';
import type { Options, Used } from '../util/check.js';
import { getOrMake } from '../util/collections.js';
import { steadyNow } from '../util/time.js';
import type { Frame } from '../wire/frame.js';
import { toMapping } from '../wire/mapping.js';
import { RecentRows } from './recent-rows.js';
import { withoutContent, withoutSlice, writeLine } from './recording.js';
import type { Line } from './recording.js';
import { redacted } from './redact.js';

/** Options of {@link record}. */
export interface RecordOptions {
  /**
   * Whether the recording has payloads, fragments, headers and trailers. Otherwise it has only their sizes, because they may hold
   * secrets. Default `false`.
   */
  readonly payloads?: boolean | undefined;
  /**
   * Called with each frame before any part of it is kept. It returns the frame to keep, or `null` for none. The frame is frozen: return
   * a changed copy. Of a fragment only the size is kept, because a slice of a payload shows no fields. Default none.
   */
  readonly redact?: ((frame: Frame) => Frame | null) | undefined;
  /** How many lines {@link Recording.text} has: the last ones. Default 10 000. */
  readonly maxLines?: number | undefined;
  /** How many bytes {@link Recording.text} has. Default 10 000 000. */
  readonly maxBytes?: number | undefined;
}

/** A recording under way. */
export interface Recording {
  /** Emits each line when its frame passes, from the subscription on; completes when the recording ends. */
  readonly lines$: Observable<Line>;
  /** The last lines, each with a line break. `readLines` reads them. */
  readonly text: string;
  /** How many lines before {@link text} were dropped, because of `maxLines` or `maxBytes`. */
  readonly dropped: number;
  /** Ends the recording; its text stays. It is safe to call it twice. */
  stop(): void;
}

const OPTIONS: Options<RecordOptions, Used<RecordOptions, 'redact'>> = {
  payloads: [checkBoolean, false],
  redact: [checkFunction, undefined],
  maxLines: [checkNumber, 10_000],
  maxBytes: [checkNumber, 10_000_000],
};

/**
 * Records the frames of a peer, or of a server's peers. It begins at once, and ends with
 * {@link Recording.stop}, or with the peers. It keeps the last lines as text. To write all lines to a file, read `lines$`, and set
 * `maxLines` to 0.
 *
 * An error of `redact` ends the recording, and is logged.
 *
 * @throws TypeError for a bad option, and unless `source` is a peer or a server
 *
 * @example
 * ```ts
 * const recording = record(peer, { payloads: true, redact: ({ headers, ...frame }) => frame });
 * await peer.request('ping', { headers: { authorization: 'Bearer s3cret' } });
 * recording.text;
 * // {"v":1,"t":2,"c":1,"d":">","f":{"type":"open",…,"payload":"ping"}}
 * // {"v":1,"t":9,"c":1,"d":"<","f":{"type":"data",…,"payload":"pong"}}
 * ```
 */
export function record(source: Peer | PeersSource, options: RecordOptions = {}): Recording {
  checkOptions(options, OPTIONS);
  const { payloads, redact, maxLines, maxBytes } = readOptions(OPTIONS, options);
  const kept = !payloads ? withoutContent : redact === undefined ? identity : withoutSlice;
  const lineOf = lineMaker();
  const rows = new RecentRows(maxLines, maxBytes);
  const lines$ = new Subject<Line>();
  const recording = peersOf('record', source)
    .pipe(
      mergeMap((peer) => peer.frames$),
      mergeMap((event) => {
        const frame = redact === undefined ? event.frame : redacted(redact, event.frame);
        return frame === null ? [] : [kept(lineOf(event, frame))];
      }),
      tap((line) => {
        if (maxLines > 0) rows.add(writeLine(line));
      }),
      catchError((error: unknown) => {
        log('error', 'a recording ended, because a frame could not be kept', error);
        return EMPTY;
      }),
    )
    .subscribe(lines$);
  return {
    lines$: lines$.asObservable(),
    get text() {
      return rows.toString();
    },
    get dropped() {
      return rows.dropped;
    },
    stop() {
      recording.unsubscribe();
      lines$.complete();
    },
  };
}

/** Makes the lines of frames. Counts the sockets of all peers, in the order of their first frames. */
function lineMaker(): (event: FrameEvent, frame: Frame) => Line {
  const began = steadyNow();
  const connections = new WeakMap<Peer, number[]>();
  let count = 0;
  return ({ direction, peer, connection, at }, frame) => {
    const c = (getOrMake(connections, peer, () => [])[connection] ??= ++count);
    const isFromDialer = (direction === 'tx') === peer.isDialer;
    return { v: 1, t: Math.round(at - began), c, d: isFromDialer ? '>' : '<', f: toMapping(frame) };
  };
}
