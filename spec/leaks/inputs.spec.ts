import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { describe, expect, it } from '@jest/globals';
import { concat, defer, finalize, interval, of, take } from 'rxjs';
import type { Observable, ObservableInput } from 'rxjs';
import type { Overflow, Stream } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { counting } from '../support/peer/counting.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { ENDINGS } from './endings.js';
import { joined, LONGEST_WATCH_MS, surplus } from './scene.js';
import type { Scene } from './scene.js';

const time = virtualPeerTime();
const counts = counting(time);
collectLogs();

/** Counts the sources of a test that were begun, and those that were released. */
class Sources {
  begun = 0;
  left = 0;

  of<T>(source$: Observable<T>): Observable<T> {
    return defer(() => {
      this.begun++;
      return source$.pipe(finalize(() => this.left++));
    });
  }
}

type Given = ObservableInput<unknown> | (() => ObservableInput<unknown>);

/** A kind of input. It emits at least one value, and the rest when the scene finishes. */
interface Kind {
  readonly kind: string;
  readonly make: (scene: Scene, sources: Sources, relayed: () => Stream) => Given;
  /** Whether it pushes more than there is room for. */
  readonly overflows?: true;
  /** Whether the test cannot count its begin and its release. */
  readonly uncounted?: true;
  /** Whether it pushes, so that an overflow policy applies to its values. */
  readonly pushes?: true;
}

const BIG = 'x'.repeat(300_000);

const KINDS: readonly Kind[] = [
  { kind: 'a hot Subject', pushes: true, make: ({ input$ }, sources) => sources.of(input$) },
  { kind: 'a timer', pushes: true, make: ({ finished }, sources) => sources.of(concat(interval(10).pipe(take(3)), finished)) },
  {
    kind: 'more than the queue holds',
    pushes: true,
    overflows: true,
    make: ({ finished }, sources) => sources.of(concat(of(1, 2, BIG, BIG, BIG), finished)),
  },
  { kind: 'a promise', uncounted: true, make: ({ finished }) => finished },
  { kind: 'an array', uncounted: true, make: () => ['a', 'b'] },
  {
    kind: 'a generator',
    make: (_, sources) =>
      (function* () {
        sources.begun++;
        try {
          for (let n = 0; n < 10; n++) yield BIG;
        } finally {
          sources.left++;
        }
      })(),
  },
  {
    kind: 'an async generator',
    make: ({ finished }, sources) =>
      (async function* () {
        sources.begun++;
        try {
          yield 'a';
          await finished;
        } finally {
          sources.left++;
        }
      })(),
  },
  {
    kind: 'a ReadableStream',
    make: ({ finished }, sources) => {
      sources.begun++;
      let open = true;
      const leave = (): void => {
        if (open) sources.left++;
        open = false;
      };
      return new ReadableStream({
        start(controller) {
          controller.enqueue('a');
          void finished.then(() => {
            if (open) controller.close();
            leave();
          });
        },
        cancel: leave,
      });
    },
  },
  {
    kind: 'a stream of Node',
    make: ({ finished }, sources) => {
      sources.begun++;
      const input = new Readable({
        objectMode: true,
        read: () => undefined,
        destroy: (_error, callback) => {
          sources.left++;
          callback(null);
        },
      });
      input.push('a');
      void finished.then(() => input.push(null));
      return input;
    },
  },
  { kind: 'a stream of another peer', make: (_scene, _sources, relayed) => relayed() },
  {
    kind: 'a function that makes it',
    make:
      ({ input$ }, sources) =>
      () =>
        sources.of(input$),
  },
];

const POLICIES: readonly (Overflow | undefined)[] = [undefined, 'buffer', 'latest', 'error', { dropOldest: 2 }];

const WAYS = KINDS.flatMap((kind) =>
  (kind.pushes === true ? POLICIES : [undefined]).map((overflow) => ({
    ...kind,
    what: overflow === undefined ? kind.kind : `${kind.kind} with overflow ${JSON.stringify(overflow)}`,
    overflow,
    /** Whether the call fails by itself. */
    fails: kind.overflows === true && overflow === 'error',
  })),
);

describe.each(WAYS)('an input of $what', ({ what, make, overflow, uncounted, fails }) => {
  it.each(ENDINGS)(
    `The input '${what}' is released, and both sides hold nothing, when its call $how`,
    async ({ piped, atOnce, afterMs, end, connection, silent }) => {
      const relay = createPair();
      await time.advance();
      const empty = counts.held();
      const scene = joined(counts);
      await time.advance();
      const before = connection === true ? empty : counts.held();
      const sources = new Sources();
      relay.acceptor.onStream((_, stream) => stream.sendAll(sources.of(concat(of('a'), scene.finished))));
      const input = make(scene, sources, () => relay.dialer.open('relay', { end: true }));
      let ended = false;
      const given$ = scene.asking.open$('p', { input, overflow });
      const subscription = (piped === undefined ? given$ : given$.pipe(piped)).subscribe({
        error: () => (ended = true),
        complete: () => (ended = true),
      });
      if (atOnce === true) subscription.unsubscribe();
      else await time.advance(afterMs);
      end(scene, () => subscription.unsubscribe(), time);
      // By then a timer's input is finished; a drain waits for the input.
      await time.advance(connection === true ? 100 : LONGEST_WATCH_MS);
      expect(surplus(before, counts.held())).toEqual({});
      // An async generator stops when its pending promise settles.
      scene.finish();
      await time.advance();
      expect([sources.begun > 0, ended]).toEqual([uncounted !== true, fails || silent !== true]);
      expect(sources.left).toBe(sources.begun);
    },
  );
});
