import { jest } from '@jest/globals';
import { Peer } from '../../src/peer/peer.js';
import { Deadlines } from '../../src/stream/deadlines.js';
import type { Stream } from '../../src/stream/stream.js';
import { StreamCore } from '../../src/stream/stream-core.js';
import { LazySet } from '../../src/util/collections.js';
import { Receiving } from '../../src/stream/receiving.js';
import type { Connection } from '../../src/connection/connection.js';
import { GoAway } from '../../src/connection/control.js';
import { OutgoingFrame } from '../../src/wire/outgoing.js';
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
      plant(StreamCore.prototype, 'reset', (live, reset: StreamCore['reset'], ...how: Parameters<StreamCore['reset']>) => {
        reset(...how);
        const others = (live.carrier as Connection | null)?.streams.values() ?? [];
        for (const other of others) other.reset('user', ResetCode.CANCEL, 'one of us was reset');
      });
    },
  },
  {
    fault: 'a failed open burns an id',
    shows: 'ids',
    sow: () => {
      plant(Peer.prototype, 'open', (peer, open: (...call: Parameters<Peer['open']>) => Stream, ...call: Parameters<Peer['open']>) => {
        try {
          return open(...call);
        } catch (error) {
          const connection = Peer.core(peer)?.openConnection;
          if (connection) connection.nextId += 2;
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
      plant(Receiving.prototype, 'keep', () => true);
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
      const described = Object.getOwnPropertyDescriptor(StreamCore.prototype, 'failure');
      jest.spyOn(StreamCore.prototype, 'failure', 'get').mockImplementation(function (this: StreamCore): unknown {
        const error: unknown = described?.get?.call(this);
        return isMuxError(error) ? Object.assign(error, { retriable: true }) : error;
      });
    },
  },
  {
    fault: 'a stream is served until it has nothing left',
    shows: 'fairness',
    sow: () => {
      // A stream with more to send stays in front of the others.
      plant(LazySet.prototype, 'add', (turns, add: LazySet<unknown>['add'], value: unknown) => {
        const isServed = value instanceof StreamCore && !value.unsent && Number(value.sending?.frames) > 0;
        const others: readonly unknown[] = isServed ? [...(turns as LazySet<unknown>)] : [];
        for (const other of others) turns.delete(other);
        for (const each of [value, ...others]) add(each);
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
      jest.spyOn(OutgoingFrame.prototype, 'isSmall', 'get').mockReturnValue(true);
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
