import type { Observable } from 'rxjs';
import type {
  Absent,
  Codec,
  Frame,
  FrameDirection,
  FrameEvent,
  Peer,
  ABSENT,
  JsonCodec,
  MAX_FRAME_BYTES,
  PREFIX,
  ResetCode,
} from '../../src/index.js';
import { ofDirection, ofStream, ofType } from '../../src/index.js';
import type { Accepts, Equal, Expect, Refuse } from './expect.js';

declare const frames$: Peer['frames$'];
type Seen<T> = T extends Observable<infer E> ? E : never;

const data$ = frames$.pipe(ofType('data', 'open'));
const received$ = frames$.pipe(ofDirection('rx'), ofType('reset'), ofStream(3));

export type OperatorsNarrow = [
  Expect<Equal<Seen<typeof data$>['frame']['type'], 'data' | 'open'>>,
  Expect<Equal<Seen<typeof received$>['direction'], 'rx'>>,
  Expect<Equal<Seen<typeof received$>['frame']['type'], 'reset'>>,
  Expect<Equal<Seen<typeof received$>['frame']['stream'], number>>,
  Expect<Accepts<FrameEvent, Seen<typeof received$>>>,
];

export type FramesAreLiterals = [
  Expect<Accepts<Frame, { type: 'ping'; nonce: string }>>,
  Expect<Accepts<Frame, { type: 'data'; stream: 1; payload: null; end: true }>>,
  Expect<Accepts<Frame, { type: 'data'; fragment: ArrayBuffer; more: undefined }>>,
  Refuse<Accepts<Frame, { stream: 1 }>>,
  Refuse<Accepts<Frame, { type: 'data'; stream: '1' }>>,
  Expect<Equal<FrameDirection, 'tx' | 'rx'>>,
];

export type Constants = [
  Expect<Equal<Absent, typeof ABSENT>>,
  Expect<Equal<typeof MAX_FRAME_BYTES, 65536>>,
  Expect<Equal<typeof PREFIX, 'mux.v1.'>>,
  Expect<Equal<typeof ResetCode.APPLICATION_ERROR, 16>>,
  Expect<Accepts<ResetCode, 256>>,
  Expect<Accepts<Codec, JsonCodec>>,
  Expect<Equal<ReturnType<JsonCodec['encode']>, string>>,
];
