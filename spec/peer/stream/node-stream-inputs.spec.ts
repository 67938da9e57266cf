import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { take } from 'rxjs';
import type { Observable } from 'rxjs';
import { respond, withCredit } from '../../../src/index.js';
import type { Peer } from '../../../src/index.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { collectLogs } from '../../support/peer/logs.js';
import { progressOf } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

/** Emits one value, and then neither another nor an end. */
function idle(): PassThrough {
  const input = new PassThrough({ objectMode: true });
  input.write('first');
  return input;
}

describe('Silent stream of Node', () => {
  it.each<[string, (stream: Stream, remote: Stream) => unknown]>([
    ['the remote cancels', (_, remote) => remote.reset()],
    ['the remote needs no more', (_, remote) => remote.reset(0)],
    ['this side resets', (stream) => stream.reset()],
    ['this side closes the peer', (stream) => stream.peer.close()],
    ['the remote closes its peer', (_, remote) => remote.peer.close()],
  ])('A silent stream of Node is destroyed when %s', async (_what, interrupt) => {
    const { dialer, acceptor } = createPair();
    const remotes: Stream[] = [];
    acceptor.onStream((_, stream) => {
      remotes.push(stream);
      return new Promise(() => undefined);
    });
    const stream = dialer.open();
    const input = idle();
    const outcome = progressOf(stream.sendAll(input));
    await time.advance();
    expect([input.readableLength, input.destroyed]).toEqual([0, false]);
    for (const remote of remotes) interrupt(stream, remote);
    await time.advance(5_000);
    expect([outcome.settled, input.destroyed]).toEqual([true, true]);
  });

  const takeOne = async (answers$: Observable<unknown>): Promise<void> => {
    answers$.pipe(take(1)).subscribe();
    await time.advance();
  };

  it.each<[string, (dialer: Peer, acceptor: Peer, input: Readable) => unknown]>([
    [
      'it is the input of `open$` and the call is unsubscribed',
      async (dialer, acceptor, input) => {
        acceptor.onStream(() => new Promise(() => undefined));
        const subscription = dialer.open$('p', { input }).subscribe();
        await time.advance();
        subscription.unsubscribe();
      },
    ],
    [
      'a function makes it and the call is unsubscribed',
      async (dialer, acceptor, input) => {
        acceptor.onStream(() => new Promise(() => undefined));
        const subscription = dialer.open$('p', { input: () => input }).subscribe();
        await time.advance();
        subscription.unsubscribe();
      },
    ],
    [
      'it is the answer of a handler and the caller has enough',
      (dialer, acceptor, input) => {
        acceptor.onStream((_, stream) => stream.sendAll(input));
        return takeOne(dialer.open$('p'));
      },
    ],
    [
      'it is the answer of `respond` and the caller has enough',
      (dialer, acceptor, input) => {
        acceptor.streams$.pipe(respond(() => input)).subscribe();
        return takeOne(dialer.open$('p'));
      },
    ],
    [
      'it is spent for credit and the consumer has enough',
      (dialer, acceptor, input) => {
        const credit = withCredit(2);
        acceptor.streams$.pipe(respond((_, stream) => credit.spend(stream)(input))).subscribe();
        return takeOne(credit.grant((credit$) => dialer.open$('p', { input: credit$ })));
      },
    ],
  ])('A silent stream of Node is destroyed when %s', async (_what, use) => {
    const { dialer, acceptor } = createPair();
    const input = idle();
    await use(dialer, acceptor, input);
    await time.advance();
    expect([input.readableLength, input.destroyed]).toEqual([0, true]);
  });
});

describe('Stopped stream of Node', () => {
  async function stopped(input: AsyncIterable<unknown>) {
    const { dialer } = createPair();
    const stream = dialer.open();
    void stream.sendAll(input);
    await time.advance();
    stream.reset();
    await time.advance();
  }

  it('A stopped stream of Node that fails to close does no harm', async () => {
    const errors: unknown[] = [];
    const input = new Readable({
      read: () => undefined,
      destroy: (_error, callback) => {
        errors.push('closing');
        callback(new Error('cannot close'));
      },
    });
    await stopped(input);
    expect([errors, input.destroyed]).toEqual([['closing'], true]);
    expect(logs.errors).toEqual([]);
  });

  it('A stopped input that has `destroy` and `return` gets both calls', async () => {
    const told: string[] = [];
    const next = () => new Promise<never>(() => undefined);
    const back = () => {
      told.push('return');
      return Promise.resolve({ done: true as const, value: undefined });
    };
    await stopped({
      [Symbol.asyncIterator]: () => ({ next, return: back }),
      destroy: () => told.push('destroy'),
    } as AsyncIterable<unknown>);
    expect(told).toEqual(['destroy', 'return']);
  });

  it('A stopped stream of Node whose `destroy` throws is logged', async () => {
    const input = Object.assign(idle(), {
      destroy: () => {
        throw new Error('cannot destroy');
      },
    });
    await stopped(input);
    expect(logs.errors).toEqual(['rxmux: destroying an input failed']);
  });

  it.each<[string, object]>([
    ['a response of a client, which has no method', { httpVersion: '1.1', method: null }],
    ['another stream with a method', { method: 'POST' }],
    ['another stream with a version', { httpVersion: '1.1' }],
  ])('A stopped stream of Node is destroyed when it is %s', async (_what, traits) => {
    const input = Object.assign(idle(), traits);
    await stopped(input);
    expect(input.destroyed).toBe(true);
  });

  it('A stopped request of a server keeps its connection, and ends at its next chunk', async () => {
    const socket = new Socket();
    const request = Object.assign(new IncomingMessage(socket), { method: 'POST', httpVersion: '1.1' });
    request.setEncoding('utf8');
    request.push('first');
    await stopped(request);
    expect([request.destroyed, socket.destroyed]).toEqual([false, false]);
    request.push('next');
    await time.advance();
    expect([request.destroyed, socket.destroyed]).toEqual([true, false]);
  });
});

it('A stream of Node that fails before its first read fails its upload at that read', async () => {
  const { dialer, acceptor, link } = createPair();
  acceptor.onStream((_, stream) => {
    stream.subscribe({ error: () => undefined });
    return new Promise(() => undefined);
  });
  const stream = dialer.open();
  await time.advance();
  link.stall('acceptor');
  for (let sent = 0; sent < 8; sent++) void stream.send('x'.repeat(1024 * 1024));
  const input = idle();
  const outcome = progressOf(stream.sendAll(input));
  const broken = new RangeError('no more');
  input.destroy(broken);
  await time.advance();
  expect(outcome.settled).toBe(false);
  link.resume('acceptor');
  await time.advance(1_000);
  expect(outcome.error).toBe(broken);
});
