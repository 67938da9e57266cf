import type { NamedLane } from './svg.js';

/**
 * A lane of a picture: which row of its test it draws, counted from 0, and its name.
 * The last value of a cold row is `taken` where it reaches the subscriber that leaves in the same ms.
 */
export type PictureRow = readonly [row: number, name: string, shape?: NamedLane['shape'], last?: 'taken'];

/** A picture of the docs, which a marble test draws. */
export interface Picture {
  /** The file in docs/pictures, without its ending. */
  readonly name: string;
  /** The title of the test, with the titles of its `describe` or without. */
  readonly test: string;
  readonly title: string;
  readonly rows: readonly PictureRow[];
  /** Explains capital letters of frames. Default: they are the server's. */
  readonly capitals?: string;
  /** Explains other letters. */
  readonly key?: string;
}

const CLIENT = 'client gets';
const WIRE = 'on the wire';
const STREAM_3 = 'Capital letters belong to stream 3, small letters to stream 1.';
const PEER = 'p and q are peers.';

const wire = (row: number): PictureRow => [row, WIRE, 'frames'];
const frames = (row: number, name: string): PictureRow => [row, name, 'frames'];

export const PICTURES: readonly Picture[] = [
  {
    name: 'one-socket',
    test: 'Three streams share a socket: their frames interleave, and each stream gets its own',
    title: 'Streams share a socket',
    rows: [
      [0, 'upload: client sends'],
      [1, 'prices: server sends', 'values', 'taken'],
      [2, 'request: server sends'],
      [3, 'one socket', 'socket'],
      [4, 'upload: server gets'],
      [6, 'prices: client gets'],
      [7, 'request: client gets'],
    ],
    key: 'U, P and Q are the streams of an upload, of prices and of a request. Capital letters come from the server.',
  },
  {
    name: 'switch-map',
    test: 'A switchMap on the client unsubscribes the Observable on the server',
    title: 'switchMap on the client stops the work on the server',
    rows: [
      [0, 'typed'],
      [1, 'server: answer to a'],
      [2, 'server: answer to b'],
      [3, 'server: answer to c'],
      [4, CLIENT],
    ],
  },
  {
    name: 'switch-map-wire',
    test: 'A call in switchMap is cancelled by the next call',
    title: 'switchMap: a reset cancels the call before',
    rows: [[3, 'calls'], [0, 'server: answer to a'], [1, 'server: answer to b'], [4, CLIENT], wire(2)],
  },
  {
    name: 'merge-map',
    test: 'A call in mergeMap runs beside as many others as the limit allows',
    title: 'mergeMap(call, 2): two calls share the socket, and the third waits',
    rows: [[4, 'calls'], [0, 'server: answer to a'], [1, 'server: answer to b'], [2, 'server: answer to c'], [5, CLIENT], wire(3)],
  },
  {
    name: 'concat-map',
    test: 'A call in concatMap waits for the end of the call before',
    title: 'concatMap: a call waits for the end of the call before',
    rows: [[3, 'calls'], [0, 'server: answer to a'], [1, 'server: answer to b'], [4, CLIENT], wire(2)],
  },
  {
    name: 'exhaust-map',
    test: 'A call in exhaustMap drops calls that come before its end',
    title: 'exhaustMap: no call leaves before the end of the call before',
    rows: [[4, 'calls'], [0, 'server: answer to a'], [2, 'server: answer to c'], [5, CLIENT], wire(3)],
  },
  {
    name: 'share',
    test: 'A call in share is one stream for all subscribers, and is cancelled when the last of them leaves',
    title: 'share: one stream for two subscribers',
    rows: [[2, 'subscribers come'], [0, 'server: answer', 'values', 'taken'], [3, 'both get'], wire(1)],
    key: 'p and q: x and y for the first subscriber. r and s: y and z for the second.',
  },
  {
    name: 'fork-join',
    test: 'A call in forkJoin is cancelled when the other call fails',
    title: 'forkJoin: a failure cancels the other call',
    rows: [[0, 'server: answer to a'], [1, 'server: answer to b'], [4, CLIENT], wire(2)],
    key: 'Here catchError turns the failure into an end.',
  },
  {
    name: 'retry',
    test: 'A call in retry is opened again after a failure',
    title: 'retry({ delay: 2 }): a new stream after a failure',
    rows: [[0, 'server: answer'], [3, CLIENT], wire(1)],
    key: 'Here catchError turns the second failure into an end.',
  },
  {
    name: 'take-until',
    test: 'A call in takeUntil is cancelled by its notifier',
    title: 'takeUntil cancels the call',
    rows: [[0, 'server: answer'], [3, CLIENT], wire(1)],
  },
  {
    name: 'abort',
    test: 'An aborted signal unsubscribes the answer and resets the stream',
    title: 'An aborted signal cancels the call',
    rows: [[1, 'signal aborts'], [0, 'server: answer'], [3, CLIENT], wire(2)],
  },
  {
    name: 'server-reset',
    test: 'A reset by the server unsubscribes the upload, and the call errors',
    title: 'A reset by the server stops the upload',
    rows: [[0, 'client: input'], [1, 'server resets'], [3, CLIENT], wire(2)],
  },
  {
    name: 'request',
    test: '`request$` emits the one value at once, without waiting for the end',
    title: 'request$ emits one value',
    rows: [[0, 'server: answer'], [2, CLIENT], wire(1)],
  },
  {
    name: 'open',
    test: '`open$` with input sends many values while it receives many',
    title: 'open$ sends an input, and receives values',
    rows: [[1, 'client: input'], [0, 'server: answer'], [3, CLIENT], wire(2)],
  },
  {
    name: 'through',
    test: '`through` emits the answers to many values, in order',
    title: 'through: each value goes through the server',
    rows: [[0, 'source'], [2, CLIENT], wire(1)],
  },
  {
    name: 'respond',
    test: '`respond` unsubscribes from the answer when the caller cancels',
    title: 'respond: a cancelled call unsubscribes from the answer',
    rows: [
      [0, 'server: answer'],
      [1, CLIENT],
    ],
  },
  {
    name: 'deadline',
    test: 'A deadline of 5 ms on open$ covers the whole stream: it also resets it after some values',
    title: 'timeoutMs: 5 ends the whole stream in time',
    rows: [[0, 'server: answer'], [2, CLIENT], wire(1)],
  },
  {
    name: 'reconnect',
    test: 'The reconnect helper dials again when the socket is lost',
    title: 'reconnect dials again after a lost socket',
    rows: [
      [3, 'socket is lost'],
      [2, 'client: calls'],
      [0, 'server: answers'],
      [6, 'peer.status$'],
    ],
    key: 'c connecting, o open, w waiting',
  },
  {
    name: 'back-off',
    test: 'The reconnect helper waits a random share of a time that doubles with each failure, up to 5 s',
    title: 'Back-off: the longest wait doubles up to 5 s, and each wait is random',
    rows: [[2, 'dials']],
    key: 'Here the random share is one half.',
  },
  {
    name: 'reopen-on-reconnect',
    test: '`reopenOnReconnect` reopens the stream at its cursor when the socket is lost',
    title: 'reopenOnReconnect goes on where the lost socket left off',
    rows: [
      [2, 'socket is lost'],
      [0, "server's log"],
      [5, CLIENT],
    ],
  },
  {
    name: 'reopen-after-goaway',
    test: '`reopenOnReconnect` reads the old socket until the replacement is open, and loses no value between them',
    title: 'reopenOnReconnect moves to the replacement without a gap',
    rows: [
      [3, 'server drains'],
      [0, "server's log"],
      [5, CLIENT],
    ],
    key: '9: the server drains for up to 9 ms. The line has a latency of 2 ms.',
  },
  {
    name: 'retry-when-safe',
    test: '`retryWhenSafe` subscribes again after a retriable error, count times',
    title: 'retryWhenSafe({ count: 2, delay: 3 })',
    rows: [
      [0, 'source'],
      [1, CLIENT],
    ],
  },
  {
    name: 'retry-delays',
    test: '`retryWhenSafe` by default waits a random share of 500, 1 000 and 2 000 ms, and fails after the third retry',
    title: 'retryWhenSafe() waits longer before each of three retries',
    rows: [
      [0, 'source'],
      [1, CLIENT],
    ],
    key: 'Here the random share is one half.',
  },
  {
    name: 'retry-option',
    test: 'The option retry calls again after a refusal',
    title: 'The option retry calls again after a refusal',
    rows: [[0, 'server: answer'], [2, CLIENT], wire(1)],
  },
  {
    name: 'goaway',
    test: 'The sender of a goaway refuses streams that the remote opens before it has read the goaway',
    title: 'goaway: the call before it finishes, and the call that crosses it is refused',
    rows: [
      [1, 'client calls a'],
      [2, 'server closes'],
      [3, 'client calls b'],
      [0, 'server: answer'],
      [5, 'a gets'],
      [6, 'b gets'],
      wire(4),
    ],
    key: 'The line has a latency of 2 ms. The error of b is retriable.',
  },
  {
    name: 'drain',
    test: '`close` with a live stream waits for the stream, and closes after its end',
    title: 'Drain: close waits for the streams',
    rows: [[1, 'server closes'], [0, 'server: answer'], [4, CLIENT], wire(2)],
  },
  {
    name: 'drain-in-time',
    test: '`close` with a live stream resets the stream when the time is up',
    title: 'Drain: drainMs: 4 ends the wait',
    rows: [[1, 'server closes'], [0, 'server: answer'], [4, CLIENT], wire(2)],
  },
  {
    name: 'drain-and-replace',
    test: 'A drained socket finishes its calls while new calls go over the replacement',
    title: 'Deploy: the old socket finishes its calls, and new calls take the next socket',
    rows: [
      [1, 'server drains'],
      [2, 'client: new call'],
      [3, 'sockets that get calls'],
      [0, 'server: first answer'],
      [4, CLIENT],
    ],
  },
  {
    name: 'keepalive',
    test: 'The keepalive continues after the pong, and counts the silence from the pong',
    title: 'keepalive: a ping after 6 ms of silence, and 4 ms to answer',
    rows: [frames(0, 'received'), frames(2, 'sent')],
  },
  {
    name: 'credit-granted',
    test: 'A credit consumer grants as many items as were consumed, in steps of n / 2',
    title: 'withCredit(4): the consumer grants items',
    rows: [
      [0, 'items'],
      [1, 'credit: granted'],
      [2, 'consumed'],
    ],
  },
  {
    name: 'credit-spent',
    test: 'A credit producer emits waiting items in order, as far as the credit goes',
    title: 'withCredit: the producer spends credit',
    rows: [
      [1, 'items'],
      [0, 'credit: received'],
      [2, 'sent'],
    ],
  },
  {
    name: 'overflow-buffer',
    test: 'An input that is faster than its reader queues every value by default',
    title: "overflow: 'buffer' keeps every value",
    rows: [
      [0, 'client: input'],
      [1, 'server reads'],
      [2, 'server gets'],
    ],
    key: 's: the server stops reading. r: it resumes.',
  },
  {
    name: 'overflow-latest',
    test: "An input that is faster than its reader sends the newest with 'latest'",
    title: "overflow: 'latest' keeps the newest value",
    rows: [
      [0, 'client: input'],
      [1, 'server reads'],
      [2, 'server gets'],
    ],
    key: 's: the server stops reading. r: it resumes. a and b were on their way.',
  },
  {
    name: 'small-overtakes-big',
    test: '`fragment` with a queue emits a small frame between the slices of a big one',
    title: 'A small frame overtakes the fragments of a big one',
    rows: [
      [0, 'frames to send'],
      [1, 'socket has room'],
      [2, 'on the wire', 'socket'],
    ],
    key: 'b is a big frame, and 1, 2 and 3 are its fragments. p is a ping.',
  },
  {
    name: 'fragment',
    test: '`fragment` cuts a frame that is too big, and emits its slices at once',
    title: 'fragment cuts a big frame',
    rows: [
      [0, 'frames'],
      [1, 'fragments'],
    ],
  },
  {
    name: 'assemble',
    test: '`assemble` keeps the fragments of two streams apart',
    title: 'assemble joins the fragments of each stream',
    rows: [
      [0, 'fragments'],
      [1, 'frames'],
    ],
    capitals: STREAM_3,
    key: '3: the frame of A and C. 1: the frame of a, b and c.',
  },
  {
    name: 'demultiplex',
    test: '`demultiplex` emits one group for each stream, and group 0 for the connection',
    title: 'demultiplex: a group for each stream',
    rows: [
      frames(0, 'frames'),
      [4, 'groups'],
      frames(1, 'group 0: connection'),
      frames(2, 'group 1: stream 1'),
      frames(3, 'group 3: stream 3'),
    ],
    capitals: STREAM_3,
  },
  {
    name: 'decode',
    test: '`decode` of text emits a frame for each message, of every type',
    title: 'decode makes a frame of each message',
    rows: [[0, 'messages'], frames(1, 'frames')],
  },
  {
    name: 'encode',
    test: '`encode` to text emits a message for each frame, of every type, in order',
    title: 'encode makes a message of each frame',
    rows: [frames(0, 'frames'), [1, 'messages']],
    key: 'u is a frame of an unknown type.',
  },
  {
    name: 'of-type',
    test: '`ofType` keeps every event of its type, on every stream',
    title: "ofType('data') keeps frames of a type",
    rows: [frames(0, 'frames$'), frames(1, 'kept')],
    capitals: STREAM_3,
  },
  {
    name: 'of-stream',
    test: '`ofStream` keeps every event of its stream, and no event of the connection',
    title: 'ofStream(3) keeps frames of a stream',
    rows: [frames(0, 'frames$'), frames(1, 'kept')],
    capitals: STREAM_3,
  },
  {
    name: 'of-direction',
    test: "`ofDirection` keeps every event of its direction, also the connection's events",
    title: "ofDirection('rx') keeps received frames",
    rows: [frames(0, 'frames$'), frames(1, 'kept')],
    capitals: STREAM_3,
    key: 'Here o, O, p and r are sent; the others are received.',
  },
  {
    name: 'observe-frames',
    test: '`observeFrames` sees each frame sent and received, in order',
    title: 'observeFrames sees frames in both directions',
    rows: [[0, 'peers'], [1, 'calls'], frames(2, 'seen')],
    key: 'A call before the operator has its peer is not seen.',
  },
  {
    name: 'intercept-open',
    test: '`interceptOpen` changes the headers that the remote sees',
    title: 'interceptOpen changes the headers of later calls',
    rows: [
      [0, 'peers'],
      [1, 'calls'],
      [2, 'server gets'],
    ],
    key: "a: headers of the caller. b: the interceptor's, too.",
  },
  {
    name: 'close-reasons',
    test: '`closeReasons` emits the reasons of many peers, in the order in which the sockets end',
    title: 'closeReasons emits why sockets have ended',
    rows: [
      [0, 'peers'],
      [1, 'socket of p ends'],
      [2, 'socket of q ends'],
      [3, 'reasons'],
    ],
    key: PEER,
  },
  {
    name: 'encode-once',
    test: '`encodeOnce` emits each value in its place, and completes with the source',
    title: 'encodeOnce encodes each value for all streams',
    rows: [
      [0, 'source'],
      [1, 'emits'],
    ],
  },
  {
    name: 'topic',
    test: '`topic` goes on after its last message when the socket is lost',
    title: 'topic: each message once, across lost sockets',
    rows: [
      [3, 'socket is lost'],
      [1, 'published'],
      [5, CLIENT],
    ],
  },
  {
    name: 'catch-up',
    test: '`catchUp` emits the history after a cursor, then new messages',
    title: 'catchUp: history first, then new messages',
    rows: [
      [1, 'history'],
      [0, 'broker'],
      [2, 'emits'],
    ],
  },
];
