import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ignoreElements, map, startWith, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { respond } from '../../src/index.js';
import type { FrameEvent } from '../../src/index.js';
import { createPair, frameMarbles, printMarbles, virtualTime } from '../../src/testing.js';
import { marbles } from '../../marbles/support/virtual.js';

const FRAMES = { ...frameMarbles(1), D: frameMarbles(3).d, O: frameMarbles(3).o, '?': { type: 'window_update', stream: 1 } };

/** The letters of a row as events of one direction: capital ones of stream 3. */
const events = map((letter: string) => ({ direction: 'tx', frame: FRAMES[letter as 'o'] }) as FrameEvent);

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
    'draws %s',
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
    'says nothing before the session has ended, and errors with it',
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('o-d---').pipe(events, printMarbles())).toBe('------');
      expectObservable(cold('o-d-#').pipe(events, printMarbles())).toBe('----#');
    }),
  );

  it(
    'draws every row as wide as the others',
    marbles(({ cold, flush }) => {
      let text = '';
      cold('o--O-(dpD)------g 30ms r-(De)|')
        .pipe(events, printMarbles())
        .subscribe((printed) => (text = printed));
      flush();
      expect(new Set(text.split('\n').map(({ length }) => length)).size).toBe(1);
    }),
  );

  it('draws rows that a TestScheduler reads as the same moments', () => {
    const moments = fc.array(
      fc.record({
        gap: fc.integer({ min: 8, max: 40 }),
        letters: fc.array(fc.constantFrom('o', 'd', 'e', 'D', 'p'), { minLength: 1, maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(moments, (given) => {
        new TestScheduler(() => undefined).run(({ cold, flush }) => {
          const row = given.map(({ gap, letters }, nth) => `${nth === 0 ? '' : `${gap}ms `}(${letters.join('')}) `).join('');
          let text = '';
          cold(`${row}|`)
            .pipe(events, printMarbles())
            .subscribe((printed) => (text = printed));
          flush();
          const sent = TestScheduler.parseMarbles(row, undefined, undefined, undefined, true).map(({ frame }) => frame);
          const drawn = text
            .split('\n')
            .flatMap((line) =>
              TestScheduler.parseMarbles(line.slice(line.indexOf('  ') + 2), undefined, undefined, undefined, true).map(
                ({ frame }) => frame,
              ),
            );
          expect(drawn.sort((a, b) => a - b)).toEqual(sent);
        });
      }),
      { numRuns: 200 },
    );
  });

  it('draws a real session, in virtual time', async () => {
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

  it('draws a real session, in real time', async () => {
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
