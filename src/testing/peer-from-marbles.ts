import { filter, map, ReplaySubject, takeUntil } from 'rxjs';
import type { Observable } from 'rxjs';
import type { HotObservable } from 'rxjs/internal/testing/HotObservable';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';
import { resolveOptions } from '../peer/options.js';
import type { PeerOptions } from '../peer/options.js';
import { Peer } from '../peer/peer.js';
import { MemoryLink } from './memory-link.js';
import type { Carried } from './memory-link.js';
import { MemorySocket } from './memory-socket.js';
import type { SocketLike } from '../transport/transport.js';
import { checkObject, optionError } from '../util/check.js';
import { CloseCode } from '../wire/codes.js';
import type { Frame } from '../wire/frame.js';
import { refuseUnknown } from '../util/check.js';
import { subprotocol } from '../wire/codec.js';
import { frameMarbles } from './frames.js';

/** A peer between two rows of marbles. */
export interface MarblePeer {
  /** The real peer, which reads the row. */
  readonly peer: Peer;
  /** Emits the frames that arrive, until the socket ends. `expectSubscriptions` takes its subscriptions as for any hot Observable. */
  readonly inbound: HotObservable<Frame>;
  /**
   * Emits the frames that the peer sends, for `expectObservable`; completes with the socket. A late subscriber also receives the frames
   * of the same ms, so the order of the expectations does not matter.
   */
  readonly outbound$: Observable<Frame>;
  /** The peer's end of the line, with the interface of a platform's WebSocket. */
  readonly socket: SocketLike;
}

/**
 * Makes one real peer whose other side is a row of marbles. Each letter is a frame that arrives, `|` is a clean close of the socket,
 * and `#` is the loss of the socket. It runs in virtual time inside `TestScheduler.run`.
 *
 * @param frames frames by letter; default `frameMarbles()` of the remote's first stream
 * @param options options of the peer; `isDialer` defaults to `false`, so that the remote's `o` opens stream 1; keepalive is off by
 *   default
 *
 * @throws TypeError for a letter without a frame
 *
 * @example
 * ```ts
 * scheduler.run((helpers) => {
 *   const { outbound$ } = peerFromMarbles(helpers, '--o--|', frameMarbles(1), { onStream: (_, stream) => stream.reply('hi') });
 *   helpers.expectObservable(outbound$.pipe(map((frame) => frame.payload))).toBe('--a--|', { a: 'hi' });
 * });
 * ```
 */
export function peerFromMarbles(
  helpers: Pick<RunHelpers, 'hot'>,
  inbound: string,
  frames: Record<string, Frame> = frameMarbles(),
  options: PeerOptions & { readonly isDialer?: boolean | undefined } = {},
): MarblePeer {
  const { isDialer = false, keepalive = false, ...others } = options;
  const given = { ...others, keepalive };
  const { codec } = resolveOptions(given, isDialer);
  const line = new MemoryLink({ protocol: subprotocol(codec) });
  const carried$ = new ReplaySubject<Carried>(Infinity, 1);
  line.carried$.subscribe(carried$);
  const socket = new MemorySocket(line.ends.dialer, null);
  const peer = new Peer(socket, { ...given, codec, isDialer });
  const row = rowOf(helpers, inbound, frames);
  void peer.serve();
  // The other end takes part in the closing handshake; `carried$` shows the messages that it reads.
  line.ends.acceptor.messages$.subscribe();
  row.pipe(takeUntil(peer.closes$)).subscribe({
    next: (frame) => {
      line.inject('dialer', codec.encode(frame));
    },
    error: () => {
      line.cut();
    },
    complete: () => {
      line.ends.acceptor.close(CloseCode.CLEAN, '');
    },
  });
  return {
    peer,
    inbound: row,
    outbound$: carried$.pipe(
      filter(({ from }) => from === 'dialer'),
      map(({ message }) => codec.decode(message)),
    ),
    socket,
  };
}

function rowOf({ hot }: Pick<RunHelpers, 'hot'>, inbound: string, frames: Record<string, Frame>): HotObservable<Frame> {
  if (typeof inbound !== 'string') throw optionError('inbound', 'marbles', inbound);
  for (const [letter, frame] of Object.entries(checkObject('frames', frames))) checkObject(`frames.${letter}`, frame, 'a frame');
  // Without values, each letter is its own value.
  for (const { notification } of TestScheduler.parseMarbles(inbound, undefined, undefined, false, true))
    if (notification.kind === 'N') refuseUnknown('inbound', { [String(notification.value)]: true }, frames);
  return hot<Frame>(inbound, frames);
}
