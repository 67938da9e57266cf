import { describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, NEVER } from 'rxjs';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import { respond } from '../../../src/peer/operators/respond.js';
import type { Peer } from '../../../src/peer/peer.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { askingIn } from '../../support/peer/answers.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();
const answered = askingIn(time);
const tellingOfResults = () => logs.warnings.filter((warning) => warning.includes('a handler returned'));

describe('Handler', () => {
  it('A handler works on both ends: the dialer answers pushes', async () => {
    const { dialer, acceptor } = createPair();
    dialer.onStream((payload, stream) => stream.reply(`got ${String(payload)}`));
    const answer = acceptor.request('push');
    await time.advance();
    expect(await answer).toBe('got push');
  });

  it('A handler that returns no thenable settles synchronously', async () => {
    const { sent } = await answered(() => undefined);
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true }]);
    expect(tellingOfResults()).toEqual([]);
  });

  it('A handler that settles before its answer has left sends no reset after the answer of a request', async () => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    const phases: unknown[] = [];
    acceptor.onStream((_, stream) => {
      void stream.send('x'.repeat(1_000_000));
      void Promise.resolve().then(() => phases.push(stream.phase));
    });
    const answer = dialer.request('p');
    await time.advance();
    expect([await answer, phases]).toEqual(['x'.repeat(1_000_000), ['halfClosedRemote']]);
    expect(sent.slice(-1)).toEqual([{ type: 'data', stream: 1, end: true }]);
  });

  it.each<[string, StreamHandler, string]>([
    ['an Observable', () => NEVER, 'an Observable'],
    ['a value', () => 144, 'a value (number)'],
    [
      'a generator',
      function* () {
        yield 1;
      },
      'a value (object)',
    ],
    [
      'an async generator',
      async function* () {
        yield await Promise.resolve(1);
      },
      'a value (object)',
    ],
    ['the promise of a value', () => Promise.resolve('144'), 'a value (string)'],
  ])('A handler that returns %s and sends nothing causes one warning', async (_what, handler, told) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(handler);
    const answers = Promise.all([dialer.request(), dialer.request()]);
    await time.advance();
    expect(await answers).toEqual([null, null]);
    expect(logs.warnings).toEqual([
      `rxmux: a handler returned ${told} and sent nothing, and what it returns goes nowhere: answer with stream.reply(), stream.sendAll() or respond()`,
    ]);
  });

  it.each<[string, StreamHandler]>([
    ['has answered', (_, stream) => (void stream.reply(1), 1)],
    ['has reset the stream', (_, stream) => (stream.reset(300), 1)],
    ['reads', (_, stream) => stream.subscribe()],
  ])('A handler that %s may return any value', async (_what, handler) => {
    await answered(handler);
    expect(tellingOfResults()).toEqual([]);
  });

  it('A handler may return any value when its stream has ended', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.closed);
    const stream = dialer.open();
    await time.advance();
    stream.reset();
    await time.advance();
    expect(tellingOfResults()).toEqual([]);
  });

  it('A handler may settle while its answer waits for the socket: the answer still arrives whole', async () => {
    const { dialer, acceptor, link } = createPair();
    const sent = framesOf(acceptor);
    acceptor.onStream((_, stream) => {
      for (let n = 0; n < 3; n++) void stream.send('x'.repeat(1_000_000));
    });
    link.stall('dialer');
    const seen: unknown[] = [];
    dialer.open('p', { end: true }).subscribe({ next: () => seen.push('value'), complete: () => seen.push('complete') });
    await time.advance();
    expect(seen).toEqual([]);
    link.resume('dialer');
    await time.advance(1_000);
    expect(seen).toEqual(['value', 'value', 'value', 'complete']);
    expect(sent.at(-1)).toEqual({ type: 'data', stream: 1, end: true });
  });

  it('A handler may return any thenable, even one that settles twice', async () => {
    const twice = {
      then(resolve: () => void, reject: (error: Error) => void) {
        resolve();
        reject(new Error('again'));
        resolve();
      },
    };
    const { sent } = await answered(() => twice);
    expect([sent, logs.errors]).toEqual([[{ type: 'data', stream: 1, end: true }], []]);
  });

  it('A handler may return a function that is a thenable, and the stream waits for it', async () => {
    const { dialer, acceptor } = createPair();
    const settle: (() => void)[] = [];
    acceptor.onStream(() => Object.assign(() => undefined, { then: (resolve: () => void) => settle.push(resolve) }));
    const sent = framesOf(acceptor);
    dialer.open('p', { end: true });
    await time.advance();
    expect([sent, settle.length]).toEqual([[], 1]);
    settle[0]?.();
    await time.advance();
    expect([sent, tellingOfResults()]).toEqual([[{ type: 'data', stream: 1, end: true }], []]);
  });

  it('A handler fails when it returns a thenable whose `then` throws', async () => {
    const { sent } = await answered(() => ({
      then() {
        throw new Error('then');
      },
    }));
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 16, payload: { name: 'Error', message: 'then' }, reason: 'then' }]);
  });

  it.each<[string, (payload: unknown, stream: Stream) => Promise<void>]>([
    ['sends and returns', (_, stream) => stream.send(1).then(() => stream.send(2))],
    ['sends all of an input', (_, stream) => stream.sendAll([1, 2])],
    ['sends all of an input without an end', (_, stream) => stream.sendAll([1, 2], { end: false })],
    ['replies', (_, stream) => stream.reply(1)],
    ['sends nothing', () => Promise.resolve()],
    ['fails after its first value', (_, stream) => stream.send(1).then(() => Promise.reject(new Error('no')))],
    [
      'resets its stream',
      async (_, stream) => {
        await stream.send(1);
        stream.reset(300, 'no');
      },
    ],
  ])('A handler that %s sends the same frames as the project of `respond`', async (_what, body) => {
    const framesBy = async (take: (acceptor: Peer) => void): Promise<unknown> => {
      const { dialer, acceptor } = createPair();
      const sent = framesOf(acceptor);
      take(acceptor);
      dialer.open('p').subscribe({ error: () => undefined });
      await time.advance();
      return sent;
    };
    const byRespond = await framesBy(({ streams$ }) => streams$.pipe(respond(body)).subscribe());
    expect(byRespond).toEqual(await framesBy((acceptor) => acceptor.onStream(body)));
    expect(byRespond).not.toEqual([]);
  });

  it('A project of `respond` answers with the value of its promise', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond((payload) => Promise.resolve(`got ${String(payload)}`))).subscribe();
    const answer = dialer.request('p');
    await time.advance();
    expect(await answer).toBe('got p');
  });

  it('A handler runs once a stream, with null for an open without a payload', async () => {
    const { dialer, acceptor } = createPair();
    const handler = jest.fn<StreamHandler>((_, stream) => stream.reply());
    acceptor.onStream(handler);
    const answer = dialer.request();
    await time.advance();
    expect(await answer).toBeNull();
    expect(handler.mock.calls.map(([payload]) => payload)).toEqual([null]);
  });

  it('A handler may be passed as an option, or to `serve`', async () => {
    const { dialer, acceptor } = createPair({ dialer: { onStream: (_, stream) => stream.reply('option') } });
    void acceptor.serve((_, stream) => stream.reply('serve'));
    const answers = Promise.all([dialer.request(), acceptor.request(), firstValueFrom(dialer.request$())]);
    await time.advance();
    expect(await answers).toEqual(['serve', 'option', 'serve']);
  });
});
