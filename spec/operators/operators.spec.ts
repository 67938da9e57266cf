import { describe, expect, it, jest } from '@jest/globals';
import { from, groupBy, map, mergeMap, Observable, of, take, tap } from 'rxjs';
import type { OperatorFunction, Subscriber } from 'rxjs';
import {
  assemble,
  connect,
  decode,
  DEFAULT_LIMITS,
  demultiplex,
  encode,
  fragment,
  JsonCodec,
  ofDirection,
  ofStream,
  ofType,
} from '../../src/index.js';
import type { Codec, Frame, FrameEvent } from '../../src/index.js';
import { mapPresent } from '../../src/rx/pipeline.js';
import { createServer } from '../../src/testing.js';
import { Slicer } from '../../src/wire/fragment.js';
import { completeFrame } from '../../src/wire/frame.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';

const codec = new JsonCodec();
const SAME: Frame = { type: 'data', stream: 1, payload: 'x' };

/** Yields `value` as often as it is pulled, up to a hundred times, and counts. */
function counted<T>(value: T): { readonly source: Iterable<T>; readonly given: { count: number } } {
  const given = { count: 0 };
  function* source(): Generator<T> {
    for (; given.count < 100; given.count++) yield value;
  }
  return { source: source(), given };
}

const OPERATORS: readonly (readonly [string, OperatorFunction<never, unknown>, unknown])[] = [
  ['decode', decode(codec), codec.encode(SAME)],
  ['encode', encode(codec), SAME],
  ['assemble', assemble(codec, DEFAULT_LIMITS), completeFrame(SAME)],
  ['fragment', fragment(codec), SAME],
  ['demultiplex', demultiplex(), SAME],
  ['ofType', ofType('data'), { direction: 'rx', frame: SAME, connection: 1 }],
  ['ofStream', ofStream(1), { direction: 'rx', frame: SAME, connection: 1 }],
  ['ofDirection', ofDirection('rx'), { direction: 'rx', frame: SAME, connection: 1 }],
];

describe('a synchronous source', () => {
  it.each(OPERATORS)('%s stops a synchronous source as soon as no subscriber wants more', (_name, operator, value) => {
    const { source, given } = counted(value as never);
    const seen: unknown[] = [];
    from(source)
      .pipe(operator, take(1))
      .subscribe((each) => seen.push(each));
    expect([seen.length, given.count]).toEqual([1, 0]);
  });

  it.each(OPERATORS)('%s does not read a source for a subscriber that has already left', (_name, operator, value) => {
    const { source, given } = counted(value as never);
    const seen: unknown[] = [];
    new Observable((gone) => {
      gone.complete();
      from(source).pipe(operator).subscribe(gone);
    }).subscribe((each) => seen.push(each));
    expect([seen.length, given.count]).toEqual([0, 0]);
  });

  it('Operators do no work for values that a source emits after its subscriber has left', () => {
    const worked: number[] = [];
    const regardless = new Observable<number>((to) => {
      for (const value of [1, 2, 3]) to.next(value);
      to.complete();
    });
    const work = mapPresent((value: number) => {
      worked.push(value);
      return value;
    });
    regardless.pipe(work, take(1)).subscribe();
    expect(worked).toEqual([1]);
  });

  it('`fragment` cuts no more slices than its subscriber takes, even in the middle of a frame', () => {
    const cuts = jest.spyOn(Slicer.prototype, 'next');
    const slices: unknown[] = [];
    of({ ...SAME, payload: 'x'.repeat(1_000) })
      .pipe(fragment(codec, 100), take(2))
      .subscribe((slice) => slices.push(slice));
    expect([slices.length, cuts.mock.calls.length]).toEqual([2, 2]);
    cuts.mockRestore();
  });

  it.each<[how: string, end: (to: Subscriber<Frame>) => void]>([
    ['is complete', (to) => to.complete()],
    ['has failed', (to) => to.error(new Error('no'))],
  ])('`demultiplex` emits no group for a frame that arrives within its own end, once it %s', (_how, end) => {
    const keys: number[] = [];
    let to: Subscriber<Frame> | null = null;
    const again = (): void => to?.next({ type: 'open', stream: 3 });
    new Observable<Frame>((given) => {
      to = given;
      given.next({ type: 'open', stream: 1 });
      end(given);
    })
      .pipe(
        demultiplex(),
        tap(({ key }) => keys.push(key)),
        mergeMap((group) => group.pipe(tap({ complete: again, error: again }))),
      )
      .subscribe({ error: again });
    expect(keys).toEqual([1]);
  });

  it('`decode` does not decode further after a message that fails', () => {
    const { source, given } = counted('{');
    const seen: unknown[] = [];
    from(source)
      .pipe(decode(codec))
      .subscribe({ error: (error: unknown) => seen.push(error) });
    expect([seen.length, given.count]).toEqual([1, 0]);
  });

  it('`decode` refuses what is no frame, such as the promise of an async codec, and marks the promise as handled', () => {
    const undecodable = Promise.reject(new Error('not JSON'));
    const marked = jest.spyOn(undecodable, 'catch');
    const seen: unknown[] = [];
    of('x')
      .pipe(decode(Object.assign(new JsonCodec(), { decode: (): never => undecodable as never })))
      .subscribe({ next: (frame) => seen.push(frame), error: (error: Error) => seen.push(error.message) });
    expect(seen).toEqual(['codec.decode: expected a frame, got an object']);
    expect(marked).toHaveBeenCalledTimes(1);
  });

  it('`demultiplex` emits to groups that are subscribed while the source emits', () => {
    const frames: Frame[] = [SAME, { ...SAME, stream: 3 }, SAME];
    const seen: unknown[] = [];
    from(frames)
      .pipe(
        demultiplex(),
        mergeMap((group) => group),
        take(3),
      )
      .subscribe(({ stream }) => seen.push(stream));
    expect(seen).toEqual([1, 3, 1]);
  });
});

describe('several sockets', () => {
  const time = virtualPeerTime();

  /** Runs a pipeline over the frames of a peer with three sockets in turn. Both sides send requests over each socket. */
  async function saidOf(pipeline: (frames$: Observable<FrameEvent>) => Observable<string>): Promise<readonly string[]> {
    const server = createServer({ onStream: (_, stream) => stream.reply('answer') });
    server.peers$.subscribe((peer) => {
      peer.notify('notice');
    });
    const peer = connect('ws://test', { socket: server.socket, keepalive: false, reconnect: true });
    const said: string[] = [];
    pipeline(peer.frames$).subscribe((line) => said.push(line));
    for (const question of ['one', 'two', 'three']) {
      void peer.request(question);
      await time.advance(31_000);
      server.link?.cut();
    }
    return said;
  }

  describe('operators over the frames of a peer that reconnects', () => {
    collectLogs();

    it('`demultiplex` keeps equal stream ids of several sockets apart after a groupBy connection', async () => {
      const said = await saidOf((frames$) =>
        frames$.pipe(
          ofDirection('rx'),
          groupBy(({ connection }) => connection),
          mergeMap((socket$) =>
            socket$.pipe(
              map(({ frame }) => frame),
              demultiplex(),
              mergeMap((stream$) => stream$.pipe(map(({ payload }) => `${socket$.key}: ${stream$.key}: ${String(payload)}`))),
            ),
          ),
        ),
      );
      expect(said).toEqual([1, 2, 3].flatMap((socket) => [`${socket}: 2: notice`, `${socket}: 1: answer`]));
    });

    it('Narrowing operators continue over each socket with one subscription', async () => {
      const said = await saidOf((frames$) =>
        frames$.pipe(
          ofDirection('tx'),
          ofType('open'),
          ofStream(1),
          map(({ connection, frame }) => `${connection}: ${String(frame.payload)}`),
        ),
      );
      expect(said).toEqual(['1: one', '2: two', '3: three']);
    });
  });
});

describe('bad codec', () => {
  it.each<[what: string, make: (codec: Codec) => unknown]>([
    ['decode', decode],
    ['encode', encode],
    ['assemble', assemble],
    ['fragment', fragment],
  ])('%s throws for an invalid codec', (_what, make) => {
    expect(() => make('json' as unknown as Codec)).toThrow(new TypeError("codec: expected a codec, such as new JsonCodec(), got 'json'"));
    expect(() => make(null as unknown as Codec)).toThrow(new TypeError('codec: expected a codec, such as new JsonCodec(), got null'));
  });
});
