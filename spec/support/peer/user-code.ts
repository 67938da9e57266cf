import { respond } from '../../../src/index.js';
import type { Peer } from '../../../src/index.js';

/** Application code. Its arguments depend on its place. */
export type Code = (...told: readonly unknown[]) => undefined;

/** Makes code that throws an Error with this text. */
export const throws = (text: string) => (): never => {
  throw new Error(text);
};

/** Code that counts how often it has run. */
export class CountedCode {
  runs = 0;

  constructor(private readonly does: (...told: readonly unknown[]) => unknown) {}

  readonly run: Code = (...told) => {
    this.runs++;
    return this.does(...told) as undefined;
  };
}

/** A place of a peer that accepts application code. */
export interface UserPlace {
  readonly place: string;
  readonly hang: (peer: Peer, code: Code) => unknown;
  /** Whether the code handles the streams of the remote. Only one place can. */
  readonly takes?: true;
  /** Whether the code runs only when the connection ends. */
  readonly atEnd?: true;
  /** Whether rxjs or the application's own promise reports a failure, and not this library. */
  readonly own?: true;
}

/** Every place for user code. Running all of them takes a call by each side, and headers, a value and an end from the other. */
export const PLACES: readonly UserPlace[] = [
  { place: 'an open interceptor', hang: (peer, code) => peer.interceptOpen(code) },
  { place: 'a reply-headers interceptor', hang: (peer, code) => peer.interceptReplyHeaders(code) },
  { place: 'an incoming-headers interceptor', hang: (peer, code) => peer.interceptIncomingHeaders(code) },
  { place: 'a frame observer of what comes in', hang: (peer, code) => peer.onFrame((way) => (way === 'rx' ? code() : undefined)) },
  { place: 'a frame observer of what goes out', hang: (peer, code) => peer.onFrame((way) => (way === 'tx' ? code() : undefined)) },
  { place: 'a close handler', atEnd: true, hang: (peer, code) => peer.onClose(code) },
  { place: 'a subscriber of closes$', atEnd: true, own: true, hang: (peer, code) => peer.closes$.subscribe(code) },
  { place: 'a subscriber of streams$', own: true, hang: (peer, code) => peer.streams$.subscribe(code) },
  { place: 'a subscriber of frames$', own: true, hang: (peer, code) => peer.frames$.subscribe(code) },
  { place: 'a subscriber of status$', own: true, hang: (peer, code) => peer.status$.subscribe(code) },
  { place: 'the answer to a request', own: true, hang: (peer, code) => peer.request$('q').subscribe({ next: code, error: code }) },
  { place: 'the end of another stream', own: true, hang: (peer, code) => void peer.open('q', { end: true }).closed.then(code) },
  { place: 'a handler', takes: true, hang: (peer, code) => peer.onStream(code) },
  { place: 'a handler, later', takes: true, hang: (peer, code) => peer.onStream(() => Promise.resolve().then(code)) },
  {
    place: 'a handler that answers afterwards',
    takes: true,
    hang: (peer, code) =>
      peer.onStream(async (_, stream) => {
        await Promise.all([given(code), stream.reply('answer').catch(() => undefined)]);
      }),
  },
  {
    place: 'the payload of a reply',
    takes: true,
    hang: (peer, code) => peer.onStream((_, stream) => stream.reply(payloadThatRuns(code))),
  },
  {
    place: 'trailers',
    takes: true,
    hang: (peer, code) =>
      peer.onStream((_, stream) => {
        stream.setTrailers(code);
      }),
  },
  {
    place: 'a reader of a stream',
    takes: true,
    hang: (peer, code) =>
      peer.onStream((_, stream) => {
        stream.subscribe({ next: code, error: () => undefined });
        return stream.closed;
      }),
  },
  {
    place: 'an observer of a stream',
    takes: true,
    hang: (peer, code) => peer.onStream((_, stream) => void stream.subscribe({ next: code, error: code, complete: code })),
  },
  {
    place: 'a loop over a stream',
    takes: true,
    hang: (peer, code) =>
      peer.onStream(async (_, stream) => {
        for await (const value of stream) await given(code, value);
      }),
  },
  {
    place: 'an async iterable',
    takes: true,
    hang: (peer, code) => peer.onStream((_, stream) => stream.sendAll(iterableThatRuns(code))),
  },
  { place: 'an input of respond', takes: true, hang: (peer, code) => peer.streams$.pipe(respond(code)).subscribe() },
];

/** Calls code and returns its real result, which its type hides. */
function given(code: (...told: readonly unknown[]) => unknown, ...told: readonly unknown[]): unknown {
  return code(...told);
}

/** A payload that runs code when encoded. A promise that the code returns is no payload; the application must handle its rejection. */
function payloadThatRuns(code: Code): object {
  return {
    get told() {
      const told = given(code);
      if (told instanceof Promise) told.catch(() => undefined);
      return told;
    },
  };
}

function iterableThatRuns(code: Code): AsyncIterable<unknown> {
  const next = (): Promise<IteratorResult<unknown>> => Promise.resolve(given(code)).then(() => ({ done: true, value: undefined }));
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
