import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { Subject, throwError } from 'rxjs';
import type { Stream } from '../../src/peer/stream.js';
import { createPair } from '../../src/testing.js';
import { endless } from '../support/endless.js';
import { collectLogs } from '../support/peer-logs.js';
import { progressOf } from '../support/peer-outcome.js';
import { virtualPeerTime } from '../support/peer-time.js';

const time = virtualPeerTime();

const logs = collectLogs();

const KIB = 'x'.repeat(1024);

describe('sendAll stops its input', () => {
  async function interrupted(interrupt: (stream: Stream, remote: Stream) => unknown) {
    const { dialer, acceptor, link } = createPair();
    let remote: Stream | null = null;
    acceptor.onStream((_, stream) => {
      remote = stream;
      return new Promise(() => undefined);
    });
    const stream = dialer.open();
    await time.advance();
    link.stall('acceptor');
    const { pulled, iterator } = endless();
    const values = { [Symbol.iterator]: () => ({ next: () => ({ ...iterator.next(), value: KIB }), return: () => iterator.return?.() }) };
    const outcome = progressOf(stream.sendAll(values as Iterable<string>));
    await time.advance();
    const before = pulled.count;
    if (remote !== null) interrupt(stream, remote);
    link.resume('acceptor');
    await time.advance(5_000);
    return { stream, pulled, outcome, more: pulled.count - before };
  }

  it('without an error when the remote resets with NO_ERROR', async () => {
    const { outcome, pulled } = await interrupted((_, remote) => {
      void remote.reply('enough');
      remote.reset(0);
    });
    expect([outcome, pulled.stopped]).toEqual([{ settled: true, error: null }, 1]);
  });

  it.each<[string, (stream: Stream, remote: Stream) => unknown, object]>([
    [
      'the remote cancels',
      (_, remote) => {
        remote.reset();
      },
      { code: 'RESET', resetCode: 8 },
    ],
    [
      'this side resets',
      (stream) => {
        stream.reset();
      },
      { code: 'CANCELLED' },
    ],
    ['this side closes the peer', (stream) => stream.peer.close(), { code: 'CANCELLED' }],
    ['the remote closes its peer', (_, remote) => remote.peer.close(), {}],
  ])('with the error of the stream when %s, and loses one value at most', async (_what, interrupt, error) => {
    const { outcome, pulled, more } = await interrupted(interrupt);
    expect(outcome).toEqual({ settled: true, error: expect.objectContaining(error) });
    expect(pulled.stopped).toBe(1);
    expect(more).toBeLessThanOrEqual(1);
  });

  it('with a state error when this side ends the stream meanwhile, which leaves the stream as it is', async () => {
    const { outcome, pulled, stream } = await interrupted((stream) => stream.end());
    expect(outcome).toEqual({ settled: true, error: expect.objectContaining({ code: 'PROTOCOL' }) });
    expect([pulled.stopped, stream.cause]).toEqual([1, null]);
    expect(logs.warnings).toEqual([expect.stringContaining('respond()')]);
  });

  it.each<[string, object]>([
    [
      'throws',
      {
        return: () => {
          throw new Error('cannot stop');
        },
      },
    ],
    ['rejects', { return: () => Promise.reject(new Error('cannot stop')) }],
    ['gives no promise', { return: () => 1 }],
  ])('whose return() %s, without harm', async (_what, returning) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      stream.reset();
    });
    const next = () => new Promise(() => undefined);
    const outcome = progressOf(dialer.open().sendAll({ [Symbol.asyncIterator]: () => ({ next, ...returning }) } as AsyncIterable<unknown>));
    await time.advance();
    expect(outcome.error).toMatchObject({ code: 'RESET' });
  });

  it('that is a ReadableStream by cancelling it', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      stream.reset();
    });
    const cancels: unknown[] = [];
    const cancel = (reason: unknown): void => {
      cancels.push(reason);
    };
    void dialer.open().sendAll(new ReadableStream({ cancel }));
    await time.advance();
    expect(cancels).toHaveLength(1);
  });

  it('that is an Observable by unsubscribing from it', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      stream.reset();
    });
    const input = new Subject<number>();
    void dialer.open().sendAll(input);
    await time.advance();
    expect(input.observed).toBe(false);
  });
});

describe('an input that has failed', () => {
  it.each<[string, unknown]>([
    ['an error', new RangeError('no more')],
    ['an error of another realm', runInNewContext(`new RangeError('no more')`)],
  ])('with %s rejects with it what is sent behind it', async (_what, broken) => {
    const { dialer } = createPair();
    const stream = dialer.open();
    progressOf(stream.sendAll(throwError(() => broken)));
    await time.advance();
    const outcome = progressOf(stream.send(1));
    await time.advance();
    expect(outcome.error).toBe(broken);
  });
});
