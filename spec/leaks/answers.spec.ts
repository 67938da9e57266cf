import { describe, expect, it } from '@jest/globals';
import { defer, from, map, merge, of, Subject, Subscription } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { respond, withCredit } from '../../src/index.js';
import type { Peer, Stream } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import type { Link } from '../../src/testing.js';
import { counting } from '../support/peer/counting.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { LONGEST_WATCH_MS, present, surplus } from './scene.js';

const time = virtualPeerTime();
const { held } = counting(time);
collectLogs();

/** A call, with the sources that answer and end it. */
interface Scene {
  readonly dialer: Peer;
  readonly acceptor: Peer;
  readonly link: Link;
  /** The caller's values. */
  readonly input$: Subject<unknown>;
  /** The values of the answer. */
  readonly source$: Subject<unknown>;
  readonly finished: Promise<string>;
}

/** Answers every call with the result of `project`. */
const responding =
  (project: (stream: Stream, scene: Scene) => ObservableInput<unknown>) =>
  (scene: Scene): Subscription =>
    scene.acceptor.streams$.pipe(respond((_, stream) => project(stream, scene))).subscribe();

/** Answers every call with a handler. */
const handling =
  (handler: (stream: Stream, scene: Scene) => unknown) =>
  (scene: Scene): Subscription =>
    new Subscription(scene.acceptor.onStream((_, stream) => handler(stream, scene)));

const read = (stream: Stream): Subscription => stream.subscribe({ error: () => undefined });

interface Way {
  readonly what: string;
  readonly answer: (scene: Scene) => Subscription;
}

const WAYS: readonly Way[] = [
  { what: 'respond with an Observable', answer: responding((_, { source$ }) => source$) },
  { what: 'respond with the stream itself', answer: responding((stream) => stream) },
  { what: 'respond with a reader beside the answer', answer: responding((stream, { source$ }) => merge(stream, source$)) },
  { what: 'respond with a promise', answer: responding((_, { finished }) => finished) },
  { what: 'respond with an array', answer: responding(() => ['a', 'b']) },
  {
    what: 'respond with an async generator',
    answer: responding(async function* (_, { finished }) {
      yield 'a';
      yield await finished;
    }),
  },
  {
    what: 'respond with a project that throws',
    answer: responding(() => {
      throw new Error('the project');
    }),
  },
  {
    what: 'respond with a call of another peer',
    answer: responding((stream, { acceptor, source$ }) => merge(source$, acceptor.open$('back', { input: stream }))),
  },
  { what: 'withCredit at the producer', answer: responding((stream, { source$ }) => withCredit(4).spend(stream)(source$)) },
  { what: 'a handler that returns nothing', answer: handling(() => undefined) },
  { what: 'a handler that returns sendAll', answer: handling((stream, { source$ }) => stream.sendAll(source$)) },
  {
    what: 'a handler that loops over the upload',
    answer: handling(async (stream, { finished }) => {
      for await (const value of stream) if (value === 'enough') break;
      await stream.reply(await finished);
    }),
  },
  {
    what: 'a handler that breaks out of the upload',
    answer: handling(async (stream) => {
      for await (const value of stream) if (value !== null) break;
      await stream.reply('enough');
    }),
  },
  {
    what: 'a handler that subscribes to the stream and listens to its signal',
    answer: handling((stream, { finished }) => {
      read(stream);
      stream.replyHeaders$.subscribe();
      stream.signal.addEventListener('abort', () => undefined);
      return finished;
    }),
  },
  {
    what: 'a handler that throws',
    answer: handling(() => {
      throw new Error('the handler');
    }),
  },
  {
    what: 'a subscriber of streams$',
    answer: ({ acceptor, source$ }) =>
      acceptor.streams$.subscribe((stream) => {
        read(stream);
        void stream.sendAll(source$);
      }),
  },
  { what: 'no handler', answer: () => new Subscription() },
];

interface Ending {
  readonly how: string;
  readonly end: (scene: Scene & { readonly call: Subscription; readonly stream: Stream; readonly answering: Subscription }) => void;
  /** Whether the answering or the connection ends together with the streams. */
  readonly over?: 'the answering' | 'the connection';
}

const ENDINGS: readonly Ending[] = [
  {
    how: 'both sides complete',
    end({ source$, input$ }) {
      input$.complete();
      source$.complete();
    },
  },
  {
    how: 'the answer errors, and the input ends',
    end({ source$, input$ }) {
      source$.error(new Error('the source'));
      input$.complete();
    },
  },
  { how: 'the input errors', end: ({ input$ }) => input$.error(new Error('the input')) },
  { how: 'the caller unsubscribes', end: ({ call }) => call.unsubscribe() },
  { how: 'the caller resets', end: ({ stream }) => stream.reset(300, 'no more') },
  {
    how: 'the answering is unsubscribed',
    over: 'the answering',
    end: ({ answering, call }) => [answering, call].forEach((each) => each.unsubscribe()),
  },
  { how: 'the connection is lost', over: 'the connection', end: ({ link }) => link.cut() },
  { how: 'the caller’s peer is closed', over: 'the connection', end: ({ dialer }) => void dialer.close() },
  { how: 'the answering peer is closed', over: 'the connection', end: ({ acceptor }) => void acceptor.close() },
];

describe.each(WAYS)('answered by $what', ({ what, answer }) => {
  it.each(ENDINGS)(`A stream answered by ${what} leaves nothing on either side when $how`, async ({ end, over }) => {
    const empty = held();
    const { dialer, acceptor, link } = createPair();
    dialer.onStream((_, stream) => stream.sendAll(from(stream)));
    await time.advance();
    const quiet = held();
    let finish: (value: string) => void = () => undefined;
    const finished = new Promise<string>((resolve) => (finish = resolve));
    const scene: Scene = { dialer, acceptor, link, finished, input$: new Subject(), source$: new Subject() };
    const answering = answer(scene);
    const before = { 'the connection': empty, 'the answering': quiet, 'its streams': held() }[over ?? 'its streams'];
    let stream: Stream | null = null;
    const call = dialer
      .open$('p', { input: defer(() => merge(of('first'), scene.input$)).pipe(map(String)), onOpen: (opened) => (stream = opened) })
      .subscribe({ error: () => undefined });
    await time.advance();
    end({ ...scene, call, answering, stream: present<Stream>(stream) });
    await time.advance();
    // A handler's own work is not interrupted. The test counts what the work leaves.
    finish('finished');
    await time.advance(over === 'the connection' ? 0 : LONGEST_WATCH_MS);
    expect(surplus(before, held())).toEqual({});
  });
});
