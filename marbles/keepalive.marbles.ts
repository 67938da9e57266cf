import { describe, it } from '@jest/globals';
import { OutgoingFrame } from '../src/wire/outgoing.js';
import { map, Subject } from 'rxjs';
import { JsonCodec } from '../src/codec/json.js';
import { Session } from '../src/session/session.js';
import type { Frame } from '../src/wire/frame.js';
import { resolveLimits } from '../src/wire/limits.js';
import { DrawnTransport } from './support/drawn-transport.js';
import { marbles } from './support/virtual.js';
import { letterOf } from './support/wire.js';
import { lastLoss } from '../spec/support/loss.js';

/** A ping after six ms of silence, and the end after four more. */
const TIMES = { idleMs: 6, timeoutMs: 4 };

/** More than is in a socket only because it is on its way. */
const FULL_BYTES = 20 * 1024;

interface Row {
  readonly does: string;
  /** Frames received: `q` is the pong to the last ping, `d` a frame of a later version. */
  readonly inbound: string;
  /** What else happens: `w` an open is sent and taken, `h` the same and held, `f` held by a socket that is full, `t` a byte of it is taken, `c` reading pauses, `r` it goes on, `a` the page wakes up, `s` the socket takes nothing from now on, `x` it ends. */
  readonly acts?: string;
  /** Frames sent; it completes when the session has ended. */
  readonly outbound: string;
  /** How long the session reads. */
  readonly subs: string;
}

const ROWS: readonly Row[] = [
  {
    does: 'pings after idleMs without life and terminates timeoutMs later',
    inbound: ' ------------',
    outbound: '------p---| ',
    subs: '    ^---------! ',
  },
  {
    does: 'goes on with the pong, and counts the silence from it',
    inbound: ' --------q------------',
    outbound: '------p-------p---|   ',
    subs: '    ^-----------------!   ',
  },
  {
    does: 'takes any frame for a sign of life',
    inbound: ' ---d---d----d-----------',
    outbound: '------------------p---| ',
    subs: '    ^---------------------! ',
  },
  {
    does: 'takes a frame that comes at the last moment for an answer',
    inbound: ' ----------d---------------',
    outbound: '------p---------p---|     ',
    subs: '    ^-------------------!     ',
  },
  {
    does: 'sees no life in bytes of ours that an empty socket takes, however often',
    inbound: ' ---------------',
    acts: '    ----w--w-w-----',
    outbound: '----o-po-o|    ',
    subs: '    ^---------!    ',
  },
  {
    does: 'sees no life in bytes that the socket holds',
    inbound: ' ---------------',
    acts: '    --h------------',
    outbound: '--o---p---|    ',
    subs: '    ^---------!    ',
  },
  {
    does: 'sees life in a byte that a full socket takes, from when it looks',
    inbound: ' ---------------------',
    acts: '    --f-----t------------',
    outbound: '--o---p---------p---|',
    subs: '    ^-------------------!',
  },
  {
    does: 'sends the ping, whose own bytes are no sign of life',
    inbound: ' ---------------',
    acts: '    ------s-t------',
    outbound: '------p---|    ',
    subs: '    ^---------!    ',
  },
  {
    does: 'counts no time while reading is paused, neither before the ping nor after it',
    inbound: ' ---------------------',
    acts: '    --c--r----c---r------',
    outbound: '---------p-------|   ',
    subs: '    ^----------------!   ',
  },
  {
    does: 'asks at once when the page wakes up, and no more often for that',
    inbound: ' ---------------',
    acts: '    --aa-a---------',
    outbound: '--p---|        ',
    subs: '    ^-----!        ',
  },
  {
    does: 'leaves no subscription behind when the socket ends before',
    inbound: ' --d------d-----',
    acts: '    ----x----------',
    outbound: '----|          ',
    subs: '    ^---!          ',
  },
  {
    does: 'ends with a socket that ends while it waits for the pong',
    inbound: ' ---------q-----',
    acts: '    --------x------',
    outbound: '------p-|      ',
    subs: '    ^-------!      ',
  },
];

describe('the keepalive', () => {
  it.each(ROWS)(
    '$does',
    marbles<[Row]>(({ hot, cold, expectObservable, expectSubscriptions }, { inbound, acts = '', outbound, subs }) => {
      const codec = new JsonCodec();
      const out$ = new Subject<string>();
      let nonce = '';
      const frames: Readonly<Record<string, () => Frame>> = {
        q: () => ({ type: 'pong', nonce }),
        d: () => ({ type: 'later' }),
      };
      // A frame is made when its turn comes: the nonce of a pong is not known before.
      const inbound$ = hot(inbound);
      const transport = new DrawnTransport(inbound$.pipe(map((letter) => codec.encode(frames[letter]?.() ?? { type: 'unknown' }))));
      const session = new Session({
        transport,
        codec,
        limits: resolveLimits(),
        isDialer: true,
        keepalive: TIMES,
        maxFrameBytes: 65_536,
        number: 1,
        owner: {
          accept: () => undefined,
          observed: (_session, direction, frame) => {
            if (direction === 'rx') return;
            if (frame.type === 'ping') nonce = frame.nonce ?? '';
            out$.next(letterOf(frame));
          },
          goneAway: () => undefined,
          ending: (_session, close) => lastLoss(close),
          ended: () => {
            out$.complete();
          },
        },
      });
      const send = () => {
        session.open().send(new OutgoingFrame({ type: 'open' }, null));
      };
      const consumer = {};
      const doing: Readonly<Record<string, () => void>> = {
        w: send,
        h: () => {
          transport.stuck = true;
          send();
          transport.stuck = false;
        },
        f: () => {
          transport.bufferedAmount = FULL_BYTES;
          doing['h']?.();
        },
        s: () => (transport.stuck = true),
        t: () => (transport.bufferedAmount -= 1),
        c: () => {
          session.reading.block(consumer);
        },
        r: () => {
          session.reading.unblock(consumer);
        },
        a: () => {
          session.watchdog.probeNow();
        },
        x: () => {
          transport.end();
        },
      };
      cold(acts).subscribe((letter) => doing[letter]?.());
      session.start();
      expectObservable(out$).toBe(outbound.trim());
      expectSubscriptions(inbound$.subscriptions).toBe(subs.trim());
    }),
  );
});
