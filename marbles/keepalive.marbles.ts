import { describe, it } from '@jest/globals';
import { OutgoingFrame } from '../src/wire/outgoing.js';
import { map, Subject } from 'rxjs';
import { JsonCodec } from '../src/codec/json.js';
import { Connection } from '../src/connection/connection.js';
import type { KeepaliveTimes } from '../src/connection/watchdog.js';
import type { Frame } from '../src/wire/frame.js';
import { resolveLimits } from '../src/wire/limits.js';
import { DrawnTransport } from './support/drawn-transport.js';
import { marbles } from './support/virtual.js';
import { letterOf } from './support/wire.js';
import { Holder, scriptedOwner } from '../spec/support/session/rig.js';

/** A ping after 6 ms of silence; the connection ends after 4 ms more. */
const TIMES = { idleMs: 6, timeoutMs: 4 };

/** More bytes than a socket holds that is merely sending. */
const FULL_BYTES = 20 * 1024;

interface Row {
  readonly does: string;
  /** Frames received: `q` is the pong to the last ping, `d` a frame of a later version. */
  readonly inbound: string;
  /**
   * Other events.
   * Sending: `w` an open leaves, `h` an open is held, `f` a full socket holds an open.
   * Taking: `t` the full socket takes a byte, `s` the socket takes nothing from now on.
   * Reading: `c` pauses it, `r` resumes it.
   * Others: `a` the page wakes up, `x` the socket ends.
   */
  readonly acts?: string;
  /** Frames sent. The row completes when the connection has ended. */
  readonly outbound: string;
  /** How long the connection reads. */
  readonly subs: string;
  /** Default {@link TIMES}. */
  readonly times?: KeepaliveTimes;
}

const ROWS: readonly Row[] = [
  {
    does: 'pings after idleMs of silence and terminates timeoutMs later',
    inbound: ' ------------',
    outbound: '------p---| ',
    subs: '    ^---------! ',
  },
  {
    does: 'continues after the pong, and counts the silence from the pong',
    inbound: ' --------q------------',
    outbound: '------p-------p---|   ',
    subs: '    ^-----------------!   ',
  },
  {
    does: 'counts any frame as a sign of life',
    inbound: ' ---d---d----d-----------',
    outbound: '------------------p---| ',
    subs: '    ^---------------------! ',
  },
  {
    does: 'accepts a frame at the last moment as an answer',
    inbound: ' ----------d---------------',
    outbound: '------p---------p---|     ',
    subs: '    ^-------------------!     ',
  },
  {
    does: 'counts no own bytes that an empty socket takes as life, however often',
    inbound: ' ---------------',
    acts: '    ----w--w-w-----',
    outbound: '----o-po-o|    ',
    subs: '    ^---------!    ',
  },
  {
    does: 'counts no bytes that the socket holds as life',
    inbound: ' ---------------',
    acts: '    --h------------',
    outbound: '--o---p---|    ',
    subs: '    ^---------!    ',
  },
  {
    does: 'counts a byte that a full socket takes as life, from the moment when it looks',
    inbound: ' ---------------------',
    acts: '    --f-----t------------',
    outbound: '--o---p---------p---|',
    subs: '    ^-------------------!',
  },
  {
    does: 'sends a ping whose own bytes are no sign of life',
    inbound: ' ---------------',
    acts: '    ------s-t------',
    outbound: '------p---|    ',
    subs: '    ^---------!    ',
  },
  {
    does: 'stops its clock while reading is paused, before the ping as well as after it',
    inbound: ' ---------------------',
    acts: '    --c--r----c---r------',
    outbound: '---------p-------|   ',
    subs: '    ^----------------!   ',
  },
  {
    does: 'pings at once when the page wakes up, and only once',
    inbound: ' ---------------',
    acts: '    --aa-a---------',
    outbound: '--p---|        ',
    subs: '    ^-----!        ',
  },
  {
    does: 'pings again when the page wakes up while a ping of the silence waits, and then waits for less',
    times: { idleMs: 6, timeoutMs: 4_000 },
    inbound: ' ------ 4s   -------',
    acts: '    -------a-a-   4s   ---',
    outbound: '------pp 2499ms |',
    subs: '    ^------ 2500ms !',
  },
  {
    does: 'waits as long as ever for the answer to a ping that follows a waking',
    times: { idleMs: 6, timeoutMs: 4_000 },
    inbound: ' ---q------- 5s ---',
    acts: '    --a----------------',
    outbound: '--p------p 3999ms | ',
    subs: '    ^--------- 3999ms !',
  },
  {
    does: 'leaves no subscription when the socket ends before a ping',
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
    'The keepalive $does',
    marbles<[Row]>(({ hot, cold, expectObservable, expectSubscriptions }, { inbound, acts = '', outbound, subs, times = TIMES }) => {
      const codec = new JsonCodec();
      const out$ = new Subject<string>();
      let nonce = '';
      const frames: Readonly<Record<string, () => Frame>> = {
        q: () => ({ type: 'pong', nonce }),
        d: () => ({ type: 'later' }),
      };
      // A frame is built when its turn comes, because the nonce of a pong is not known before.
      const inbound$ = hot(inbound);
      const transport = new DrawnTransport(inbound$.pipe(map((letter) => codec.encode(frames[letter]?.() ?? { type: 'unknown' }))));
      const connection = new Connection({
        transport,
        codec,
        limits: resolveLimits(),
        isDialer: true,
        keepalive: times,
        maxFrameBytes: 65_536,
        number: 1,
        owner: scriptedOwner({
          observed: (_connection, direction, frame) => {
            if (direction === 'rx') return;
            if (frame.type === 'ping') nonce = frame.nonce ?? '';
            out$.next(letterOf(frame));
          },
          ended: () => {
            out$.complete();
          },
        }),
      });
      const send = () => {
        const stream = new Holder(connection.owner, true);
        connection.adopt(stream);
        stream.send(new OutgoingFrame({ type: 'open' }, null));
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
          connection.reading.lag(consumer);
        },
        r: () => {
          connection.reading.caughtUp(consumer);
        },
        a: () => {
          connection.watchdog.probeNow();
        },
        x: () => {
          transport.end();
        },
      };
      cold(acts).subscribe((letter) => doing[letter]?.());
      connection.start();
      expectObservable(out$).toBe(outbound.trim());
      expectSubscriptions(inbound$.subscriptions).toBe(subs.trim());
    }),
  );
});
