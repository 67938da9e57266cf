import { Stream } from '../../src/stream/stream.js';
import { extrasOf } from '../../src/stream/extras.js';
import { StreamCore } from '../../src/stream/stream-core.js';
import { Outbound } from '../../src/connection/outbound.js';
import type { StreamInput } from '../../src/stream/state.js';
import { Connection } from '../../src/connection/connection.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { CompleteFrame } from '../../src/wire/frame.js';
import type { OutgoingFrame } from '../../src/wire/outgoing.js';
import { Reassembly } from '../../src/wire/reassembly.js';
import { ResetCode } from '../../src/wire/codes.js';
import { plant } from './plant.js';
import type { Fault } from './plant.js';

/** Faults of a stream. */
export const STREAM_FAULTS: readonly Fault[] = [
  {
    fault: 'a stream stays in its table after the end',
    shows: 'nothing held',
    sow: () => {
      plant(Connection.prototype, 'forget', () => undefined);
    },
  },
  {
    fault: 'a stream receives its end twice',
    shows: 'a stream ends once',
    sow: () => {
      plant(StreamCore.prototype, 'release', (stream, release: StreamCore['release'], ...how: Parameters<StreamCore['release']>) => {
        release(...how);
        extrasOf(stream).gone({ how: 'ended' });
      });
    },
  },
  {
    fault: 'the last fragment of a payload is lost',
    shows: 'payloads complete',
    sow: () => {
      plant(Reassembly.prototype, 'accept', (_, accept: Reassembly['accept'], frame: CompleteFrame) => {
        const whole = accept(frame);
        const isLast = frame.type === 'data' && frame.fragment !== null && !frame.more;
        return isLast && whole !== null && 'payload' in whole ? { ...whole, payload: ABSENT } : whole;
      });
    },
  },
  {
    fault: 'a reset is not sent',
    shows: 'nothing held',
    sow: () => {
      plant(Outbound.prototype, 'add', (_, add: Outbound['add'], stream: StreamCore, frame: OutgoingFrame) => {
        if (frame.type !== 'reset') add(stream, frame);
      });
    },
  },
  {
    fault: 'a value is delivered after the end',
    shows: 'no value after the end',
    sow: () => {
      plant(StreamCore.prototype, 'release', (stream, release: StreamCore['release'], ...how: Parameters<StreamCore['release']>) => {
        release(...how);
        stream.multicast('late');
      });
    },
  },
  {
    fault: 'a promise never settles',
    shows: 'promises settle',
    sow: () => {
      plant(Stream.prototype, 'send', (_, send: Stream['send'], ...what: Parameters<Stream['send']>) => {
        void send(...what);
        return new Promise<void>(() => undefined);
      });
    },
  },
  {
    fault: 'the headers of an answer are lost',
    shows: 'headers once',
    sow: () => {
      plant(StreamCore.prototype, 'next', (_, next: StreamCore['next'], value: Parameters<StreamCore['next']>[0]) => {
        next('type' in value && value.type === 'data' ? { ...value, headers: null } : value);
      });
    },
  },
  {
    fault: 'trailers are lost',
    shows: 'trailers with the end',
    sow: () => {
      plant(StreamCore.prototype, 'next', (_, next: StreamCore['next'], value: Parameters<StreamCore['next']>[0]) => {
        next('type' in value && value.type === 'data' ? { ...value, trailers: null } : value);
      });
    },
  },
  {
    fault: 'a value changes on its way',
    shows: 'payloads in order',
    sow: () => {
      plant(StreamCore.prototype, 'next', (_, next: StreamCore['next'], value: Parameters<StreamCore['next']>[0]) => {
        next('payload' in value && typeof value.payload === 'string' ? { ...value, payload: value.payload.toUpperCase() } : value);
      });
    },
  },
  {
    fault: 'a reset goes out with another code',
    shows: 'both sides agree',
    sow: () => {
      plant(
        Outbound.prototype,
        'addReset',
        (_, addReset: Outbound['addReset'], ...[stream, reset, isAhead]: Parameters<Outbound['addReset']>) => {
          addReset(stream, reset.code === ResetCode.CANCEL ? Object.assign(reset, { code: 300 }) : reset, isAhead);
        },
      );
    },
  },
  {
    fault: 'data after an open is taken for data after the end',
    shows: 'honest sides are not blamed',
    sow: () => {
      plant(
        StreamCore.prototype,
        'accepts',
        (state, accepts: StreamCore['accepts'], input: StreamInput) => accepts(input) && state.phase !== 'halfClosedLocal',
      );
    },
  },
  {
    fault: 'the end of the remote is overlooked',
    shows: 'phases',
    sow: () => {
      plant(
        StreamCore.prototype,
        'advance',
        (_, advance: StreamCore['advance'], input: StreamInput) => input === 'recvEnd' || advance(input),
      );
    },
  },
];
