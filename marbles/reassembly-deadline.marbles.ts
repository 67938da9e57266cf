import { describe, it } from '@jest/globals';
import { map, Subject } from 'rxjs';
import { JsonCodec } from '../src/codec/json.js';
import { Connection } from '../src/connection/connection.js';
import type { Frame } from '../src/wire/frame.js';
import { resolveLimits } from '../src/wire/limits.js';
import { DrawnTransport } from './support/drawn-transport.js';
import { marbles } from './support/virtual.js';
import { letterOf } from './support/wire.js';
import { scriptedOwner } from '../spec/support/session/rig.js';

/**
 * Streams 1 and 3 of the remote. `o` and `O` begin an open in fragments, `m` continues it, `w` and `W` complete it.
 * `r` is a reset, `l` a frame of a later version.
 */
const FRAMES: Readonly<Record<string, Frame>> = {
  o: { type: 'open', stream: 1, fragment: '"', more: true },
  m: { type: 'open', stream: 1, fragment: 'x', more: true },
  w: { type: 'open', stream: 1, fragment: '"' },
  O: { type: 'open', stream: 3, fragment: '"', more: true },
  W: { type: 'open', stream: 3, fragment: '"' },
  r: { type: 'reset', stream: 1 },
  l: { type: 'later' },
};

interface Row {
  readonly does: string;
  readonly inbound: string;
  /** When reading pauses (`c`) and resumes (`r`). */
  readonly reading?: string;
  /** Ids of the streams whose open has arrived whole. */
  readonly opened: string;
  /** Frames sent: `t` is a reset at the deadline. */
  readonly outbound: string;
  readonly subs: string;
}

/** The deadline drops fragments after 6 ms in which no frame arrives. */
const ROWS: readonly Row[] = [
  {
    does: 'never expires without fragments',
    inbound: ' ----l----------|',
    opened: '  ----------------',
    outbound: '---------------|',
    subs: '    ^--------------!',
  },
  {
    does: 'expires when no frame follows a fragment',
    inbound: ' -o-------------|',
    opened: '  ----------------',
    outbound: '-------t-------|',
    subs: '    ^--------------!',
  },
  {
    does: 'starts again with each fragment',
    inbound: ' -o---m---------|',
    opened: '  ----------------',
    outbound: '-----------t---|',
    subs: '    ^--------------!',
  },
  {
    does: 'starts again with any other frame',
    inbound: ' -o---l---------|',
    opened: '  ----------------',
    outbound: '-----------t---|',
    subs: '    ^--------------!',
  },
  {
    does: 'covers all streams together',
    inbound: ' -o---O---------|',
    opened: '  ----------------',
    outbound: '-----------(tt)|',
    subs: '    ^--------------!',
  },
  {
    does: 'is lifted when every open is complete',
    inbound: ' -o-O---w-W-----|',
    opened: '  -------1-3------',
    outbound: '---------------|',
    subs: '    ^--------------!',
  },
  {
    does: 'is lifted for a stream that is reset',
    inbound: ' -o---r---------|',
    opened: '  ----------------',
    outbound: '---------------|',
    subs: '    ^--------------!',
  },
  {
    does: 'stands still while reading is paused',
    inbound: ' -o-------------|',
    reading: ' ---c----r-------',
    opened: '  ----------------',
    outbound: '------------t--|',
    subs: '    ^--------------!',
  },
  {
    does: 'leaves no timer after the end of the socket',
    inbound: ' -o---|          ',
    opened: '  ----------------',
    outbound: '-----|',
    subs: '    ^----!',
  },
];

describe('the deadline of a reassembly', () => {
  it.each(ROWS)(
    'The deadline of a reassembly $does',
    marbles<[Row]>(({ hot, cold, expectObservable, expectSubscriptions }, { inbound, reading = '', opened, outbound, subs }) => {
      const codec = new JsonCodec();
      const [opened$, out$] = [new Subject<string>(), new Subject<string>()];
      const inbound$ = hot(inbound, FRAMES);
      const connection = new Connection({
        transport: new DrawnTransport(inbound$.pipe(map((frame) => codec.encode(frame)))),
        codec,
        limits: resolveLimits({ reassemblyTimeoutMs: 6, pauseMs: 100 }),
        isDialer: false,
        keepalive: null,
        maxFrameBytes: 65_536,
        number: 1,
        owner: scriptedOwner({
          accept: ({ id }) => opened$.next(String(id)),
          observed: (_connection, direction, frame) => {
            if (direction === 'tx') out$.next(letterOf(frame));
          },
          ended: () => out$.complete(),
        }),
      });
      const consumer = {};
      cold(reading).subscribe((what) => {
        if (what === 'c') connection.reading.lag(consumer);
        else connection.reading.caughtUp(consumer);
      });
      connection.start();
      expectObservable(opened$).toBe(opened.trim());
      expectObservable(out$).toBe(outbound.trim());
      expectSubscriptions(inbound$.subscriptions).toBe(subs.trim());
    }),
  );
});
