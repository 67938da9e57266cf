import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, of, toArray } from 'rxjs';
import { MsgpackCodec } from '../../../src/msgpack.js';
import { JsonCodec, respond } from '../../../src/index.js';
import { collectLogs } from '../../support/peer/logs.js';
import { THENABLES } from '../../support/peer/thenables.js';
import type { Work } from '../../support/peer/thenables.js';
import { createPair } from '../../support/peer/tracked.js';

const logs = collectLogs();

describe.each(THENABLES)('$kind', ({ make }) => {
  it('A handler is awaited, and its error resets the stream', async () => {
    const { dialer, acceptor } = createPair();
    const work: Work = { starts: 0 };
    acceptor.onStream((payload, stream) =>
      make(() => {
        if (payload === 'no') throw new RangeError('no such row');
        void stream.reply('row');
      }, work),
    );
    expect(await dialer.request('yes')).toBe('row');
    expect(work.starts).toBe(1);
    await expect(dialer.request('no')).rejects.toMatchObject({ payload: { name: 'RangeError', message: 'no such row' } });
  });

  it('A project of `respond` answers with the value that it awaits once', async () => {
    const { dialer, acceptor } = createPair();
    const work: Work = { starts: 0 };
    acceptor.streams$.pipe(respond(() => make(() => 'row', work))).subscribe();
    expect(await dialer.request('p')).toBe('row');
    expect(work.starts).toBe(1);
  });

  it('A project of `respond` that resolves to nothing sends an end alone', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond(() => make(() => undefined))).subscribe();
    expect(await lastValueFrom(dialer.open$('p', { input: of() }).pipe(toArray()))).toEqual([]);
    expect(logs).toEqual({ warnings: [], errors: [] });
  });

  it('An input of a call and of `sendAll` is awaited once', async () => {
    const { dialer, acceptor } = createPair();
    const work: Work = { starts: 0 };
    acceptor.onStream((_, stream) => stream.sendAll(make(() => 'down', work)));
    expect(await lastValueFrom(dialer.open$('p', { input: make(() => 'up', work) }).pipe(toArray()))).toEqual(['down']);
    expect(work.starts).toBe(2);
  });

  it('An interceptor that returns it fails the open', () => {
    const { dialer } = createPair();
    dialer.interceptOpen(() => make(() => undefined) as never);
    expect(() => dialer.open('p')).toThrow(new TypeError('expected an open interceptor to work synchronously, got a promise'));
  });

  it('An error serializer that returns it sends none of its parts', async () => {
    const { dialer, acceptor } = createPair({ acceptor: { errorSerializer: () => make(() => ({ message: 'late' })) } });
    acceptor.onStream(() => Promise.reject(new Error('secret')));
    await expect(dialer.request('p')).rejects.toMatchObject({ reason: 'internal error', payload: null });
  });

  it('Trailers and headers that are it are refused', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      stream.setTrailers(() => make(() => ({ rows: 1 })));
    });
    const message = expect.stringMatching(/^expected headers or trailers to be a plain object, got /);
    await expect(dialer.request('p')).rejects.toMatchObject({ reason: message });
    expect(() => dialer.open('p', { headers: make(() => ({ a: 1 })) as never })).toThrow(expect.objectContaining({ message }));
  });

  it('The rejection of a hook that returns it is logged', async () => {
    const { dialer } = createPair();
    const hook: (...told: readonly unknown[]) => unknown = () =>
      make(() => {
        throw new Error('hook');
      });
    dialer.onFrame(hook);
    await dialer.ping();
    expect(logs.errors).not.toEqual([]);
  });
});

// A Proxy of a plain object looks like one: a codec reads no `then` of each object of a payload.
describe.each(THENABLES.filter(({ kind }) => !kind.startsWith('a Proxy')))('a value that is $kind', ({ make }) => {
  it.each([new JsonCodec(), new MsgpackCodec()])('The codec $name refuses it as a value', async (codec) => {
    const { dialer, acceptor } = createPair({ codec });
    const thrown: unknown[] = [];
    acceptor.onStream((payload, stream) => {
      for (const value of [make(() => 'row'), { rows: [make(() => 'row')] }])
        try {
          void stream.send(value);
        } catch (error) {
          thrown.push(error);
        }
      return stream.reply(payload);
    });
    expect(await dialer.request('end')).toBe('end');
    expect(thrown).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/expected a value it can carry at payload, got a (promise|function)/) }),
      expect.objectContaining({ message: expect.stringMatching(/at payload\.rows\[0\], got a (promise|function)/) }),
    ]);
  });
});
