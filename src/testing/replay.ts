import { filter, map, ReplaySubject, Subject, takeUntil } from 'rxjs';
import type { Observable } from 'rxjs';
import { playScript } from '../inspect/play.js';
import { readLines } from '../inspect/recording.js';
import type { Line, RecordedFrame } from '../inspect/recording.js';
import { scriptOf } from '../inspect/script.js';
import type { RecordedSide } from '../inspect/script.js';
import { GivenSocket } from '../peer/dial/given-socket.js';
import { PEER_OPTIONS, resolveOptions } from '../peer/options.js';
import type { PeerOptions } from '../peer/options.js';
import { PeerCore } from '../peer/core.js';
import { Peer } from '../peer/peer.js';
import { soon } from '../rx/soon.js';
import { checkNumber } from '../util/check.js';
import { isArrayBuffer } from '../util/check.js';
import type { Frame } from '../wire/frame.js';
import { FRAME_TYPES, isFrameType } from '../wire/frame.js';
import { fromMapping, toMapping } from '../wire/mapping.js';
import { asGiven, checkOptions, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';
import { subprotocol } from '../wire/codec.js';
import { MemoryLink, OTHER_SIDE } from './memory-link.js';

/** Options of {@link replay}, and of the peer that hears the recording. */
export interface ReplayOptions extends PeerOptions {
  /** The side of the recording that is played. Your code is at the other side. Default `dialer`. */
  readonly side?: RecordedSide | undefined;
  /** The connection of the recording. Default 1. */
  readonly connection?: number | undefined;
  /** The speed as a multiple of the recorded one; `Infinity` plays at once. Default 1. */
  readonly speed?: number | undefined;
}

/** A recording that is played to your code. */
export interface Replay {
  /** The peer of your code, which hears the recorded frames. */
  readonly peer: Peer;
  /** Emits the frames of streams that `peer` sends, also to late subscribers; completes with the connection. */
  readonly sent$: Observable<RecordedFrame>;
  /** The frames of streams that this side sent when the recording was made. */
  readonly recorded: readonly RecordedFrame[];
  /** How many lines are not played: of streams whose open was not recorded, and of messages that do not decode. */
  readonly skipped: number;
  /** Resolves once the last recorded frame was played. */
  readonly played: Promise<void>;
}

interface Played {
  readonly side: RecordedSide;
  readonly connection: number;
  readonly speed: number;
}

const OPTIONS: Options<Partial<Played>, Played> = {
  side: [asGiven, 'dialer'],
  connection: [checkNumber, 1],
  speed: [checkNumber, 1],
};

/**
 * Plays one side of a recording to a real peer, in memory, so that a bug report becomes a test. The frames come in the recorded time, on
 * the clock of rxjs: under `virtualTime()` at no cost. Keepalive is off by default. The peer begins to read one turn later.
 *
 * A frame of a stream that your code opens waits for that open, which is matched by the id of the stream.
 *
 * @param recording text from `record()`, or from `rxmux tap --record FILE --payloads`
 * @throws SyntaxError or TypeError for a text that is no recording, and for a connection without frames. It throws a TypeError for a
 *   recording without payloads, and for a frame that the codec cannot represent. It throws a ProtocolError for a frame that no peer
 *   sends, and what `createPair` throws for a bad option.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs';
 *
 * const { sent$, recorded } = replay(readFileSync('bug.ndjson', 'utf8'), { onStream: (n: number, stream) => stream.reply(n * n) });
 * await firstValueFrom(sent$.pipe(take(recorded.length), toArray()));   // equals `recorded` if the code answers as it did
 * ```
 */
export function replay(recording: string | readonly Line[], options: ReplayOptions = {}): Replay {
  checkOptions(options, OPTIONS, PEER_OPTIONS);
  const { keepalive = false, ...given } = options;
  const { side, connection, speed } = readOptions(OPTIONS, given);
  const script = scriptOf(Array.isArray(recording) ? (recording as readonly Line[]) : readLines(recording as string), side, connection);
  const core = new PeerCore(resolveOptions({ ...given, keepalive }, side === 'acceptor'));
  const { codec } = core;
  // Throws here, and not later on the clock.
  for (const { f } of script.played) codec.encode(frameOf(f));
  const line = new MemoryLink({ protocol: subprotocol(codec) });
  const peer = new Peer(core, new GivenSocket(core, line.ends[OTHER_SIDE[side]]), given.onStream);
  void peer.serve();
  const send = (f: RecordedFrame): void => {
    line.inject(OTHER_SIDE[side], codec.encode(frameOf(f)));
  };
  const heard$ = new Subject<RecordedFrame>();
  const sent$ = new ReplaySubject<RecordedFrame>(Infinity);
  heard$.pipe(filter(isOfStream)).subscribe(sent$);
  heard$.pipe(filter(({ type }) => type === 'ping')).subscribe(({ nonce }) => {
    send({ type: 'pong', nonce });
  });
  line.ends[side].messages$.pipe(map((message) => envelopeOf(codec.decode(message)))).subscribe(heard$);
  const frames$ = playScript(script, heard$, speed).pipe(takeUntil(peer.closes$));
  const played = new Promise<void>((resolve) => {
    soon(() => {
      frames$.subscribe({ next: send, complete: resolve });
    });
  });
  return {
    peer,
    sent$: sent$.asObservable(),
    recorded: script.heard.map(({ f }) => f).filter(isOfStream),
    skipped: script.skipped,
    played,
  };
}

function isOfStream({ type }: RecordedFrame): boolean {
  return typeof type === 'string' && isFrameType(type) && FRAME_TYPES[type].scope === 'stream';
}

/** Returns the frame of an envelope, whose fragment may be bytes in any form. */
function frameOf(f: RecordedFrame): Frame {
  const { fragment } = f;
  return fromMapping(fragment instanceof Uint8Array ? { ...f, fragment: fragment.slice().buffer } : f);
}

/** Returns the envelope of a frame, as a recording has it. */
function envelopeOf(frame: Frame): RecordedFrame {
  const envelope = toMapping(frame);
  const { fragment } = envelope;
  return isArrayBuffer(fragment) ? { ...envelope, fragment: new Uint8Array(fragment) } : envelope;
}
