import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { logger } from '../../src/index.js';
import type { HandlerFailure, StreamHandler } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import type { MuxServer, ServeOptions } from '../../src/node.js';
import { portOf } from '../support/socket/handshake.js';
import { until } from '../support/socket/leaks.js';

const failing: StreamHandler = (payload) => {
  throw new RangeError(String(payload));
};

/** A server whose handler fails, and two dialers that notify it. */
async function notified(options: Partial<ServeOptions>, listen: (server: MuxServer) => void = () => undefined): Promise<MuxServer> {
  const server = serve({ port: 0, host: '127.0.0.1', keepalive: false, handler: failing, ...options } as ServeOptions);
  await server.listening;
  const url = `ws://127.0.0.1:${portOf(server)}`;
  const early = await connect(url, { keepalive: false }).opened;
  await until('the first peer', () => server.peers.size === 1);
  listen(server);
  const late = await connect(url, { keepalive: false }).opened;
  early.notify('early');
  await early.ping();
  late.notify('late');
  await late.ping();
  return server;
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('errors of handlers', () => {
  it('A server calls onError with the handler errors of all peers', async () => {
    const onError = jest.fn<(error: unknown) => void>();
    const server = await notified({ onError });
    await server.close();
    expect(onError.mock.calls.map(([error]) => String(error))).toEqual(['RangeError: early', 'RangeError: late']);
  });

  it('A server emits on errors$ the handler errors of earlier and later peers, and completes when it has closed', async () => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const seen: HandlerFailure[] = [];
    const complete = jest.fn();
    const server = await notified({}, ({ errors$ }) => errors$.subscribe({ next: (failure) => seen.push(failure), complete }));
    expect(seen.map((failure) => [String(failure.error), server.peers.has(failure.stream.peer)])).toEqual([
      ['RangeError: early', true],
      ['RangeError: late', true],
    ]);
    await server.close();
    await until('the completion', () => complete.mock.calls.length === 1);
    expect([complete.mock.calls.length, error.mock.calls]).toEqual([1, []]);
  });

  it('A server without onError and errors$ logs each handler error with its peer and address', async () => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const server = await notified({});
    await server.close();
    expect(error.mock.calls).toEqual([
      [expect.stringMatching(/^rxmux: peer \d+ \(127\.0\.0\.1:\d+\), stream 1: a handler failed$/), new RangeError('early')],
      [expect.stringMatching(/^rxmux: peer \d+ \(127\.0\.0\.1:\d+\), stream 1: a handler failed$/), new RangeError('late')],
    ]);
  });
});
