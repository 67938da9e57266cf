import { jest } from '@jest/globals';
import { Calls } from '../../src/peer/calls.js';
import { Deadlines } from '../../src/stream/deadlines.js';
import type { PeerCore } from '../../src/peer/core.js';
import { StreamCore } from '../../src/stream/stream-core.js';
import { Backlog } from '../../src/connection/outbound.js';
import type { Cut, StreamQueue } from '../../src/stream/sending.js';
import { GoAway } from '../../src/connection/control.js';
import { Holdings } from '../../src/stream/receiving.js';
import { LiveStream } from '../../src/stream/stream-core.js';
import * as fragments from '../../src/wire/fragment.js';
import { isMuxError } from '../../src/wire/errors.js';
import { HeldBytes } from '../../src/wire/reassembly.js';
import { ResetCode } from '../../src/wire/codes.js';
import { plant } from './plant.js';
import type { Fault } from './plant.js';

/** Faults of calls, and of a whole connection. */
export const CALL_FAULTS: readonly Fault[] = [
  {
    fault: 'one reset kills every stream',
    shows: 'resets have a reason',
    sow: () => {
      plant(LiveStream.prototype, 'reset', (live, reset: LiveStream['reset'], ...how: Parameters<LiveStream['reset']>) => {
        reset(...how);
        const others = live.session?.streams.values() ?? [];
        for (const other of others) other.reset('user', ResetCode.CANCEL, 'one of us was reset');
      });
    },
  },
  {
    fault: 'a failed open burns an id',
    shows: 'ids',
    sow: () => {
      plant(Calls.prototype, 'open', (calls, open: Calls['open'], ...call: Parameters<Calls['open']>) => {
        try {
          return open(...call);
        } catch (error) {
          const session = (Reflect.get(calls, 'core') as PeerCore).openSession;
          session?.streams.takeId();
          throw error;
        }
      });
    },
  },
  {
    fault: 'no limit of bytes holds',
    shows: 'bytes within the limit',
    sow: () => {
      plant(HeldBytes.prototype, 'take', (held, _: HeldBytes['take'], bytes: number) => {
        held.release(-bytes);
        return true;
      });
    },
  },
  {
    fault: 'nothing is counted',
    shows: 'bytes within the limit',
    sow: () => {
      plant(HeldBytes.prototype, 'take', () => true);
      plant(HeldBytes.prototype, 'release', () => undefined);
      plant(Holdings.prototype, 'keep', () => true);
    },
  },
  {
    fault: 'the timer of a call is kept after its end',
    shows: 'no timer left',
    sow: () => {
      plant(Deadlines.prototype, 'cancel', () => undefined);
    },
  },
  {
    fault: 'a call is made again although its handler ran',
    shows: 'at most once',
    sow: () => {
      const described = Object.getOwnPropertyDescriptor(StreamCore.prototype, 'error');
      jest.spyOn(StreamCore.prototype, 'error', 'get').mockImplementation(function (this: StreamCore): unknown {
        const error: unknown = described?.get?.call(this);
        return isMuxError(error) ? Object.assign(error, { retriable: true }) : error;
      });
    },
  },
  {
    fault: 'a stream is served until it has nothing left',
    shows: 'fairness',
    sow: () => {
      plant(Backlog.prototype, 'take', (backlog, take: Backlog['take'], stream: number, queue: StreamQueue, cut: Cut) => {
        const others = [...backlog.queues].filter(([id]) => id !== stream);
        const slice = take(stream, queue, cut);
        if (queue.frames === 0) return slice;
        // Puts the stream behind the others again.
        const queues = backlog.queues as Map<number, StreamQueue>;
        for (const [id, other] of others) {
          queues.delete(id);
          queues.set(id, other);
        }
        return slice;
      });
    },
  },
  {
    fault: 'a goaway disowns streams whose handlers ran',
    shows: 'goaway',
    sow: () => {
      plant(GoAway.prototype, 'announce', () => 0);
    },
  },
  {
    fault: 'frames are not cut',
    shows: 'messages within the cap',
    sow: () => {
      jest.spyOn(fragments, 'slicerToSend').mockReturnValue(null);
    },
  },
  {
    fault: 'a listener stays on the signal of a call',
    shows: 'no listener left',
    sow: () => {
      jest.spyOn(AbortSignal.prototype, 'removeEventListener').mockImplementation(() => undefined);
    },
  },
];
