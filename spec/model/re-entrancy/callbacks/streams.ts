import { concat, defer, finalize, map, NEVER, of, Subscription, tap } from 'rxjs';
import type { Observable, Observer } from 'rxjs';
import { respond } from '../../../../src/index.js';
import type { Stream } from '../../../../src/index.js';
import type { Run, Scene } from '../scene.js';
import type { Callback } from './callback.js';

/** Acts in the handler of the near peer. */
const handler = (where: string, answer: (stream: Stream, run: Run, scene: Scene) => unknown, throws?: Callback['throws']): Callback => ({
  where,
  ...(throws === undefined ? {} : { throws }),
  hang(scene, run) {
    const asking = scene.answer('ask', (stream) => answer(stream, run, scene));
    scene.attempt(() => asking.send('a'));
    scene.attempt(() => asking.send('b'));
    scene.attempt(() => asking.end());
  },
});

/** Acts in an answer of the near peer through `respond`. */
const response = (where: string, answer: (stream: Stream, run: Run) => Observable<unknown>, throws?: 'log'): Callback => ({
  where,
  ...(throws === undefined ? {} : { throws }),
  hang(scene, run) {
    const project = (payload: unknown, stream: Stream) => (payload === 'respond' ? answer(scene.keep(stream), run) : undefined);
    scene.until(scene.near.streams$.pipe(respond(project)).subscribe());
    scene.read('a response', scene.far.open$('respond', { timeoutMs: 1_000 }));
  },
});

type Way = keyof Observer<unknown>;
const OBSERVERS: readonly Way[] = ['next', 'error', 'complete'];

type Call = (scene: Scene, payload: string, kept: (stream: Stream) => void) => Observable<unknown>;

/** Acts in an observer of `call`, in each of its methods. */
const observers = (what: string, call: Call, ways = OBSERVERS) =>
  ways.map((way): Callback => ({
    where: `${way} of what reads ${what}`,
    throws: 'rxjs',
    hang(scene, run) {
      let stream: Stream | null = null;
      const subscription = new Subscription();
      const source$ = call(scene, way === 'error' ? 'fail' : 'rows', (opened) => (stream = scene.keep(opened)));
      subscription.add(scene.read(what, source$, { [way]: () => run({ stream, subscription }) }));
    },
  }));

/** Acts in the teardown of a subscription to `call`. */
const teardowns = (what: string, call: Call) =>
  ['rows', 'fail'].map((payload): Callback => ({
    where: `the teardown of what reads ${what} and gets ${payload === 'fail' ? 'an error' : 'an end'}`,
    throws: 'log',
    hang(scene, run) {
      let stream: Stream | null = null;
      const source$ = call(scene, payload, (opened) => (stream = scene.keep(opened)));
      const subscription = scene.read(what, source$);
      subscription.add(() => run({ stream, subscription }));
    },
  }));

const opened: Call = (scene, payload, kept) => {
  const stream = scene.near.open(payload);
  kept(stream);
  return stream;
};

const CALLS: readonly [what: string, call: Call][] = [
  ['open$', ({ near }, payload, onOpen) => near.open$(payload, { onOpen })],
  ['open$ by an operator', ({ near }, payload, onOpen) => near.open$(payload, { onOpen }).pipe(map((value) => value))],
  ['open$ with an input', ({ near }, payload, onOpen) => near.open$(payload, { onOpen, input: [1, 2] })],
  ['request$', ({ near }, payload, onOpen) => near.request$(payload, { onOpen })],
  ['a stream', opened],
  ['a stream by an operator', (...given) => opened(...given).pipe(map((value) => value))],
];

const replyHeaders: Call = (scene, payload, kept) => {
  const stream = scene.near.open(payload);
  kept(stream);
  scene.read('rows', stream);
  return stream.replyHeaders$;
};

/** Acts after a promise of a stream that the near peer has opened. */
const follows = (what: string, promise: (scene: Scene, stream: Stream) => Promise<unknown>): Callback => ({
  where: `what follows ${what}`,
  hang(scene, run) {
    const stream = scene.keep(scene.near.open('sink'));
    scene.read('an answer', stream);
    const done = (): void => run({ stream });
    scene.awaits(what, promise(scene, stream).then(done, done));
    scene.attempt(() => stream.end());
  },
});

const answering = concat(of('first', 'second'), NEVER);

export const STREAMS: readonly Callback[] = [
  handler('a handler', (stream, run) => {
    run({ stream });
    return stream.reply('done').catch(() => undefined);
  }),
  // Its answer stands, so its error goes only to the log.
  handler(
    'a handler that has replied',
    (stream, run) => {
      void stream.reply('done');
      run({ stream });
    },
    'log',
  ),
  handler('a handler, later', async (stream, run) => {
    await Promise.resolve();
    run({ stream });
    await stream.reply('done').catch(() => undefined);
  }),
  handler('a loop over a stream', async (stream, run) => {
    for await (const value of stream) run({ stream: value === 'a' ? stream : null });
    await stream.reply('done').catch(() => undefined);
  }),
  handler(
    'a reader in a handler',
    (stream, run, scene) => {
      scene.read('an upload', stream, { next: () => run({ stream }) });
      return stream.closed;
    },
    'rxjs',
  ),
  handler('a function that returns trailers', (stream, run) => {
    stream.setTrailers(() => {
      run({ stream });
      return { rows: 1 };
    });
    return stream.sendAll([1, 2]);
  }),
  handler('a listener of the signal of a stream', (stream, run, scene) => {
    // Its error would reach the platform, and end the process.
    stream.signal.addEventListener('abort', () => scene.attempt(() => run({ stream })));
    return stream.reply('done');
  }),
  response('the function of respond', (stream, run) => {
    run({ stream });
    return of('done');
  }),
  response('the beginning of a response', (stream, run) =>
    defer(() => {
      run({ stream });
      return of('done');
    }),
  ),
  response('the middle of a response', (stream, run) => answering.pipe(tap(() => run({ stream })))),
  response('the end of a response', (stream, run) => answering.pipe(finalize(() => run({ stream }))), 'log'),
  ...CALLS.flatMap(([what, call]) => [...observers(what, call), ...teardowns(what, call)]),
  ...observers('the reply headers', replyHeaders, ['next', 'complete']),
  {
    where: 'onOpen',
    hang(scene, run) {
      scene.read('rows', scene.near.open$('rows', { onOpen: (stream) => run({ stream: scene.keep(stream) }) }));
    },
  },
  {
    where: 'the end of a call that is left',
    hang(scene, run) {
      const subscription = scene.read('rows', scene.near.open$('hold'));
      subscription.add(() => run({ subscription }));
      scene.attempt(() => {
        subscription.unsubscribe();
      });
    },
  },
  follows('an answer', ({ near }) => near.request('echo')),
  follows('a failure', ({ near }) => near.request('fail')),
  follows('the end of a stream', (_, stream) => stream.closed),
  follows('a value that was sent', (_, stream) => stream.send('a')),
  follows('a value that waits for room', (_, stream) => stream.send('m'.repeat(2_000_000))),
  follows('a whole input', (_, stream) => stream.sendAll(['a', 'b'], { end: false })),
];
