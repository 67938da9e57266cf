import { jest } from '@jest/globals';
import { Outbox } from '../../src/stream/sending.js';
import { StreamCore } from '../../src/stream/stream-core.js';
import { LiveStream } from '../../src/stream/stream-core.js';
import * as controlFrames from '../../src/connection/replies.js';
import { Scheduler } from '../../src/connection/outbound.js';
import { StreamState } from '../../src/stream/state.js';
import type { StreamInput } from '../../src/stream/state.js';
import { StreamTable } from '../../src/connection/connection.js';
import { ABSENT, completeFrame } from '../../src/wire/frame.js';
import type { CompleteFrame } from '../../src/wire/frame.js';
import type { OutgoingFrame } from '../../src/wire/outgoing.js';
import { Reassembly } from '../../src/wire/reassembly.js';
import { ResetCode } from '../../src/wire/codes.js';
import { plant } from './plant.js';
import type { Fault } from './plant.js';

const EMPTY = completeFrame({ type: 'data' });

/** Faults of a stream. */
export const STREAM_FAULTS: readonly Fault[] = [
  {
    fault: 'a stream stays in its table after the end',
    shows: 'nothing held',
    sow: () => {
      plant(StreamTable.prototype, 'delete', () => undefined);
    },
  },
  {
    fault: 'a stream receives its end twice',
    shows: 'a stream ends once',
    sow: () => {
      plant(LiveStream.prototype, 'release', (stream, release: LiveStream['release'], ...how: Parameters<LiveStream['release']>) => {
        release(...how);
        stream.gone({ how: 'ended' });
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
      plant(Scheduler.prototype, 'add', (_, add: Scheduler['add'], frame: OutgoingFrame) => {
        if (frame.type !== 'reset') add(frame);
      });
    },
  },
  {
    fault: 'a value is delivered after the end',
    shows: 'no value after the end',
    sow: () => {
      plant(LiveStream.prototype, 'release', (stream, release: LiveStream['release'], ...how: Parameters<LiveStream['release']>) => {
        release(...how);
        stream.receive({ ...EMPTY, payload: 'late' });
      });
    },
  },
  {
    fault: 'a promise never settles',
    shows: 'promises settle',
    sow: () => {
      plant(Outbox.prototype, 'send', (_, send: Outbox['send'], ...what: Parameters<Outbox['send']>) => {
        void send(...what);
        return new Promise<void>(() => undefined);
      });
      plant(Outbox.prototype, 'sendLast', (_, sendLast: Outbox['sendLast'], ...what: Parameters<Outbox['sendLast']>) => {
        void sendLast(...what);
        return new Promise<void>(() => undefined);
      });
    },
  },
  {
    fault: 'the headers of an answer are lost',
    shows: 'headers once',
    sow: () => {
      plant(StreamCore.prototype, 'receive', (_, receive: StreamCore['receive'], frame: CompleteFrame) => {
        receive({ ...frame, headers: null });
      });
    },
  },
  {
    fault: 'trailers are lost',
    shows: 'trailers with the end',
    sow: () => {
      plant(StreamCore.prototype, 'receive', (_, receive: StreamCore['receive'], frame: CompleteFrame) => {
        receive({ ...frame, trailers: null });
      });
    },
  },
  {
    fault: 'a value changes on its way',
    shows: 'payloads in order',
    sow: () => {
      plant(LiveStream.prototype, 'next', (_, next: LiveStream['next'], value: Parameters<LiveStream['next']>[0]) => {
        next('payload' in value && typeof value.payload === 'string' ? { ...value, payload: value.payload.toUpperCase() } : value);
      });
    },
  },
  {
    fault: 'a reset goes out with another code',
    shows: 'both sides agree',
    sow: () => {
      const { resetFrame } = controlFrames;
      jest
        .spyOn(controlFrames, 'resetFrame')
        .mockImplementation((form, stream, code, ...rest) => resetFrame(form, stream, code === ResetCode.CANCEL ? 300 : code, ...rest));
    },
  },
  {
    fault: 'data after an open is taken for data after the end',
    shows: 'honest sides are not blamed',
    sow: () => {
      plant(
        StreamState.prototype,
        'accepts',
        (state, accepts: StreamState['accepts'], input: StreamInput) => accepts(input) && state.phase !== 'halfClosedLocal',
      );
    },
  },
  {
    fault: 'the end of the remote is overlooked',
    shows: 'phases',
    sow: () => {
      plant(
        StreamState.prototype,
        'advance',
        (_, advance: StreamState['advance'], input: StreamInput) => input === 'recvEnd' || advance(input),
      );
    },
  },
];
