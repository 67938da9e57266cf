import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { concatMap, from, ignoreElements, map, Observable, of, startWith, Subject, takeUntil, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { respond } from '../../src/index.js';
import type { FrameEvent } from '../../src/index.js';
import { createPair, frameMarbles, printMarbles, virtualTime } from '../../src/testing.js';
import { marbles } from '../../marbles/support/virtual.js';

const FRAMES = { ...frameMarbles(1), D: frameMarbles(3).d, O: frameMarbles(3).o, '?': { type: 'window_update', stream: 1 } };

/** Turns the letters of a row into events of one direction; capital letters belong to stream 3. */
const events = map((letter: string) => ({ direction: 'tx', frame: FRAMES[letter as 'o'] }) as FrameEvent);

/** Letters of one ms, `afterMs` after the letters before. */
interface Moment {
  readonly afterMs: number;
  readonly letters: string;
}

function draw(moments: readonly Moment[]): string {
  let text = '';
  new TestScheduler(() => undefined).run(({ flush }) => {
    const letters$ = from(moments).pipe(concatMap(({ afterMs, letters }) => timer(afterMs).pipe(concatMap(() => letters))));
    letters$.pipe(events, printMarbles()).subscribe((printed) => (text = printed));
    flush();
  });
  return text;
}

/** Reads a diagram as a TestScheduler does: entries such as `12 stream 1 tx d`. */
function read(text: string): readonly string[] {
  return new TestScheduler(() => undefined).run(() =>
    text.split('\n').flatMap((line) => {
      const gap = line.indexOf('  ');
      return TestScheduler.parseMarbles(line.slice(gap), undefined, undefined, undefined, true).map(
        ({ frame, notification }) => `${frame} ${line.slice(0, gap)} ${'value' in notification ? String(notification.value) : ''}`,
      );
    }),
  );
}

const ROWS: Readonly<Record<string, string>> = { p: 'connection tx', D: 'stream 3 tx' };

/** The expected entries. Each moment is in its own ms, or right after the moment before while that is being drawn. */
function readable(moments: readonly Moment[]): readonly string[] {
  let at = -(moments[0]?.afterMs ?? 0);
  let free = 0;
  return moments.flatMap(({ afterMs, letters }) => {
    at += afterMs;
    const drawnAt = Math.max(at, free);
    const marks = Array.from(letters, (letter) => ({ row: ROWS[letter] ?? 'stream 1 tx', letter: letter.toLowerCase() }));
    const most = Math.max(...marks.map(({ row }) => marks.filter((mark) => mark.row === row).length));
    free = drawnAt + (most > 1 ? most + 2 : 1);
    return marks.map(({ row, letter }) => `${drawnAt} ${row} ${letter}`);
  });
}

describe('printMarbles', () => {
  it.each<[row: string, drawn: string]>([
    ['|', ''],
    ['o|', 'stream 1 tx  o'],
    ['--o-d-e|', 'stream 1 tx  o-d-e'],
    ['--o-p-d-g|', 'stream 1 tx    o---d--\nconnection tx  --p---g'],
    ['o--O-d--D--r|', 'stream 1 tx  o----d-----r\nstream 3 tx  ---o----d---'],
    ['(ode)|', 'stream 1 tx  (ode)'],
    ['o-(de)-r|', 'stream 1 tx  o-(de)-r'],
    ['o-(dD)-(de)---r|', 'stream 1 tx  o-d----(de)---r\nstream 3 tx  --d------------'],
    ['o 20ms d|', 'stream 1 tx  o 20ms d'],
    ['o 10ms d|', 'stream 1 tx  o----------d'],
    ['o 2s O 3m d|', 'stream 1 tx  o 2000ms - 180000ms d\nstream 3 tx  - 2000ms o 180000ms -'],
    ['o-?|', 'stream 1 tx  o-?'],
  ])(
    '`printMarbles` draws %s',
    marbles<[string, string]>(({ cold, flush }, row, drawn) => {
      let text: string | null = null;
      cold(row)
        .pipe(events, printMarbles())
        .subscribe((printed) => (text = printed));
      flush();
      expect(text).toBe(drawn);
    }),
  );

  it(
    '`printMarbles` emits nothing before the session has ended, and errors with it',
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('o-d---').pipe(events, printMarbles())).toBe('------');
      expectObservable(cold('o-d-#').pipe(events, printMarbles())).toBe('----#');
    }),
  );

  it(
    '`printMarbles` draws all rows with the same width',
    marbles(({ cold, flush }) => {
      let text = '';
      cold('o--O-(dpD)------g 30ms r-(De)|')
        .pipe(events, printMarbles())
        .subscribe((printed) => (text = printed));
      flush();
      expect(new Set(text.split('\n').map(({ length }) => length)).size).toBe(1);
    }),
  );

  it.each<[moments: string, drawn: string]>([
    ['od, 1 d, 9 r', 'stream 1 tx  (od)d-----r'],
    ['od, 1 d, 1 d, 26 r', 'stream 1 tx  (od)dd 22ms r'],
    ['od, 1 De, 1 r, 5 D', 'stream 1 tx  (od)er--\nstream 3 tx  ----d--d'],
  ])('`printMarbles` moves only marks that follow a bracket too closely: %s', (moments, drawn) => {
    const given = moments.split(', ').map((each) => each.split(' ').reverse());
    expect(draw(given.map(([letters = '', afterMs = 0]) => ({ letters, afterMs: Number(afterMs) })))).toBe(drawn);
  });

  it('`printMarbles` draws rows that a TestScheduler reads with the same moments, or right after the moment before', () => {
    const moments = fc.array(
      fc.record({
        afterMs: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 40 })),
        letters: fc.string({ unit: fc.constantFrom('o', 'd', 'e', 'D', 'p'), minLength: 1, maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(moments, (given) => {
        expect([...read(draw(given))].sort()).toEqual([...readable(given)].sort());
      }),
      { numRuns: 200 },
    );
  });

  it('`printMarbles` stops when it is unsubscribed while its source emits synchronously', () => {
    const enough = new Subject<void>();
    let given = 0;
    new Observable<string>((to) => {
      while (!to.closed && given < 100) {
        if (++given === 3) enough.next();
        to.next('o');
      }
    })
      .pipe(events, printMarbles(), takeUntil(enough))
      .subscribe();
    expect(given).toBe(3);
  });

  it('`printMarbles` fails with an event that it cannot draw', () => {
    const errors: unknown[] = [];
    of({ direction: 'tx' } as FrameEvent)
      .pipe(printMarbles())
      .subscribe({ error: (error) => errors.push(error) });
    expect(errors).toEqual([expect.any(TypeError)]);
  });

  it('`printMarbles` draws a real session, in virtual time', async () => {
    const time = virtualTime();
    const { dialer, acceptor } = createPair({ latencyMs: 2 });
    acceptor.streams$.pipe(respond((_, stream) => stream.pipe(startWith('welcome')))).subscribe();
    let text = '';
    dialer.frames$.pipe(printMarbles()).subscribe((printed) => (text = printed));
    dialer.open$('x', { input: timer(5).pipe(ignoreElements()) }).subscribe();
    await time.advance(24);
    void dialer.close();
    await time.advance(10);
    time.restore();
    expect(text.split('\n')).toEqual([
      'stream 1 tx    o----e---- 14ms -',
      'stream 1 rx    ----d----e 14ms -',
      'connection tx  ---------- 14ms g',
    ]);
  });

  it('`printMarbles` draws a real session, in real time', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const drawn = new Promise<string>((resolve) => dialer.frames$.pipe(printMarbles()).subscribe(resolve));
    await dialer.request('x');
    await dialer.close();
    const rows = (await drawn).split('\n').map((row) => [row.slice(0, 13), row.slice(13).replace(/[0-9.]+m?s|[^a-z]/g, '')]);
    expect(rows).toEqual([
      ['stream 1 tx  ', 'o'],
      ['stream 1 rx  ', 'e'],
      ['connection tx', 'g'],
    ]);
  });
});
