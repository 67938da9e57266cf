import { map, mergeMap, Observable, Subject } from 'rxjs';
import type { GroupedObservable } from 'rxjs';
import { assemble, decode, demultiplex, JsonCodec, StreamFault } from '../../src/index.js';
import type { Assembler, Codec, CompleteFrame, Frame, FrameObserver, Message, SocketLike, VERSION } from '../../src/index.js';
import type { Accepts, Equal, Expect, Refuse } from './expect.js';

declare const socket: WebSocket;

const codec = new JsonCodec();

const messages$ = new Observable<Message>((subscriber) => {
  socket.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    subscriber.next(data);
  });
});

const groups$ = messages$.pipe(decode(codec), assemble(codec), demultiplex());

const payloads$ = groups$.pipe(
  mergeMap((stream$) => stream$.pipe(map((frame) => (frame instanceof StreamFault ? frame.reason : [stream$.key, frame.payload])))),
);

const subjects = new Map([[1, new Subject<CompleteFrame | StreamFault>()]]);
const unclaimed$ = messages$.pipe(decode(codec), assemble(codec), demultiplex(subjects));

declare const frames$: Observable<Frame>;
const framesByStream$ = frames$.pipe(demultiplex());

type Emitted<T> = T extends Observable<infer E> ? E : never;

export type MessagesBecomeStreams = [
  Expect<Equal<Emitted<typeof groups$>, GroupedObservable<number, CompleteFrame | StreamFault>>>,
  Expect<Equal<Emitted<typeof payloads$>, string | unknown[]>>,
  Expect<Equal<Emitted<typeof unclaimed$>, CompleteFrame | StreamFault>>,
  Expect<Equal<Emitted<typeof framesByStream$>, GroupedObservable<number, Frame>>>,
];

export type NothingMoreThanSpecified = [
  Expect<Equal<Parameters<FrameObserver>['length'], 2>>,
  Expect<Equal<typeof VERSION, string>>,
  Expect<Equal<Exclude<keyof Assembler, symbol>, 'inProgress' | 'byteLength' | 'reset' | 'feed'>>,
  Expect<Equal<Parameters<Assembler['feed']>, [frame: Frame, codec: Codec]>>,
  Refuse<Accepts<keyof SocketLike, 'turn'>>,
];
