import { describe, expect, it } from '@jest/globals';
import { NEVER, take } from 'rxjs';
import type { StreamHandler } from '../../src/peer/hooks.js';
import type { Peer } from '../../src/peer/peer.js';
import { createPair } from '../../src/testing.js';
import { CODECS } from '../support/codec/shipped.js';
import { framesOf } from '../support/peer/frames.js';
import type { Envelope } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';

const open = (fields: Envelope = {}): Envelope => ({ type: 'open', stream: 1, ...fields });
const data = (fields: Envelope): Envelope => ({ type: 'data', stream: 1, ...fields });
const reset = (code: number, fields: Envelope = {}): Envelope => ({ type: 'reset', stream: 1, code, ...fields });

/** Sends `values`, and neither ends nor settles. */
const stays =
  (...values: readonly unknown[]): StreamHandler =>
  (_, stream) => {
    for (const value of values) void stream.send(value);
    return new Promise(() => undefined);
  };
const ignored = { error: () => undefined };

/** A call or a handler, and the frames that each side sends then. */
interface Row {
  readonly call: string;
  readonly act?: (dialer: Peer, acceptor: Peer) => unknown;
  readonly handler?: StreamHandler;
  readonly afterMs?: number;
  readonly dialer?: readonly Envelope[];
  readonly acceptor?: readonly Envelope[];
  readonly warnings?: readonly string[];
}

const OPENS: readonly Row[] = [
  { call: 'open(p)', act: (peer) => peer.open('p'), dialer: [open({ payload: 'p' })] },
  { call: 'open()', act: (peer) => peer.open(), dialer: [open()] },
  { call: 'open(undefined)', act: (peer) => peer.open(undefined), dialer: [open()] },
  { call: 'open(null)', act: (peer) => peer.open(null), dialer: [open({ payload: null })] },
  {
    call: 'open(p, { headers, end })',
    act: (peer) => peer.open('p', { headers: { a: 1 }, end: true }),
    dialer: [open({ end: true, headers: { a: 1 }, payload: 'p' })],
  },
  { call: 'open(p, { headers: {} })', act: (peer) => peer.open('p', { headers: {} }), dialer: [open({ payload: 'p' })] },
  {
    call: 'open(p, { headers with undefined })',
    act: (peer) => peer.open('p', { headers: { a: undefined } }),
    dialer: [open({ payload: 'p' })],
  },
  { call: 'request(p)', act: (peer) => void peer.request('p'), dialer: [open({ end: true, payload: 'p' })] },
  { call: 'request()', act: (peer) => void peer.request(), dialer: [open({ end: true })] },
  {
    call: 'request$(p, { headers })',
    act: (peer) => peer.request$('p', { headers: { a: 1 } }).subscribe(),
    dialer: [open({ end: true, headers: { a: 1 }, payload: 'p' })],
  },
  {
    call: 'notify(p)',
    act: (peer) => {
      peer.notify('p');
    },
    dialer: [open({ end: true, payload: 'p' })],
  },
  {
    call: 'notify(undefined, { headers })',
    act: (peer) => {
      peer.notify(undefined, { headers: { a: 1 } });
    },
    dialer: [open({ end: true, headers: { a: 1 } })],
  },
  { call: 'open$(p)', act: (peer) => peer.open$('p').subscribe(), dialer: [open({ end: true, payload: 'p' })] },
  {
    call: 'open$(p, { input })',
    act: (peer) => peer.open$('p', { input: [1, 2] }).subscribe(),
    dialer: [open({ payload: 'p' }), data({ payload: 1 }), data({ payload: 2 }), data({ end: true })],
  },
];

const OPENERS: readonly Row[] = [
  { call: 'send(v)', act: (peer) => peer.open().send('v'), dialer: [open(), data({ payload: 'v' })] },
  { call: 'send(null)', act: (peer) => peer.open().send(null), dialer: [open(), data({ payload: null })] },
  { call: 'end()', act: (peer) => peer.open().end(), dialer: [open(), data({ end: true })] },
  {
    call: 'end({ trailers })',
    act: (peer) => peer.open().end({ trailers: { rows: 2 } }),
    dialer: [open(), data({ end: true, trailers: { rows: 2 } })],
  },
  { call: 'end({ trailers: {} })', act: (peer) => peer.open().end({ trailers: {} }), dialer: [open(), data({ end: true })] },
  { call: 'reply(v)', act: (peer) => peer.open().reply('v'), dialer: [open(), data({ end: true, payload: 'v' })] },
  {
    call: 'sendHeaders() of the opener',
    act: (peer) => {
      peer.open().sendHeaders({ a: 1 });
    },
    dialer: [open()],
  },
  {
    call: 'reset() of the opener',
    act: (peer) => {
      peer.open().reset();
    },
    dialer: [open(), reset(8)],
  },
  {
    call: 'reset(code, reason, payload)',
    act: (peer) => {
      peer.open().reset(300, 'quota', { limit: 1 });
    },
    dialer: [open(), reset(300, { payload: { limit: 1 }, reason: 'quota' })],
  },
  {
    call: 'reset(code, reason, a payload that cannot be encoded)',
    act: (peer) => {
      peer.open().reset(300, 'quota', () => undefined);
    },
    dialer: [open(), reset(300, { reason: 'quota' })],
    warnings: ['rxmux: stream 1: the payload of a reset cannot be sent, and the reset goes without it'],
  },
];

const ANSWERS: readonly Row[] = [
  { call: 'send(v)', handler: stays('v'), acceptor: [data({ payload: 'v' })] },
  {
    call: 'send(v, { headers }) as the first frame',
    handler: (_, stream) => {
      void stream.send(1, { headers: { a: 1 } });
      void stream.send(2);
    },
    acceptor: [data({ headers: { a: 1 }, payload: 1 }), data({ payload: 2 }), data({ end: true })],
  },
  { call: 'reply(v)', handler: (_, stream) => stream.reply('v'), acceptor: [data({ end: true, payload: 'v' })] },
  { call: 'reply()', handler: (_, stream) => stream.reply(), acceptor: [data({ end: true })] },
  { call: 'reply(undefined)', handler: (_, stream) => stream.reply(undefined), acceptor: [data({ end: true })] },
  { call: 'reply(null)', handler: (_, stream) => stream.reply(null), acceptor: [data({ end: true, payload: null })] },
  {
    call: 'reply(v, { headers, trailers })',
    handler: (_, stream) => stream.reply('v', { headers: { a: 1 }, trailers: { b: 2 } }),
    acceptor: [data({ end: true, headers: { a: 1 }, payload: 'v', trailers: { b: 2 } })],
  },
  {
    call: 'sendHeaders(h), then reply(v)',
    handler: (_, stream) => {
      stream.sendHeaders({ a: 1 });
      return stream.reply('v');
    },
    acceptor: [data({ headers: { a: 1 } }), data({ end: true, payload: 'v' })],
  },
  {
    call: 'sendHeaders() without headers, then reply(v, { headers })',
    handler: (_, stream) => {
      stream.sendHeaders();
      stream.sendHeaders({});
      return stream.reply('v', { headers: { a: 1 } });
    },
    acceptor: [data({ end: true, headers: { a: 1 }, payload: 'v' })],
  },
  {
    call: 'setTrailers(t)',
    handler: (_, stream) => {
      stream.setTrailers({ rows: 1 });
      return stream.reply('v');
    },
    acceptor: [data({ end: true, payload: 'v', trailers: { rows: 1 } })],
  },
  {
    call: 'setTrailers(function), called when the end is sent',
    handler: (_, stream) => {
      let rows = 0;
      stream.setTrailers(() => ({ rows }));
      for (; rows < 2; rows++) void stream.send(rows);
    },
    acceptor: [data({ payload: 0 }), data({ payload: 1 }), data({ end: true, trailers: { rows: 2 } })],
  },
  {
    call: 'setTrailers(function that returns null)',
    handler: (_, stream) => {
      stream.setTrailers(() => null);
    },
    acceptor: [data({ end: true })],
  },
  { call: 'a handler that settles without ending', handler: () => undefined, acceptor: [data({ end: true })] },
  { call: 'a handler whose promise settles without ending', handler: () => Promise.resolve(), acceptor: [data({ end: true })] },
  {
    call: 'a handler that throws',
    handler: () => {
      throw new RangeError('too big');
    },
    acceptor: [reset(16, { payload: { name: 'RangeError', message: 'too big' }, reason: 'too big' })],
  },
  {
    call: 'a handler that rejects',
    handler: () => Promise.reject(new RangeError('too big')),
    acceptor: [reset(16, { payload: { name: 'RangeError', message: 'too big' }, reason: 'too big' })],
  },
  {
    call: 'a handler that throws after its first value',
    handler: (_, stream) => {
      void stream.send(1);
      throw new Error('then this');
    },
    acceptor: [data({ payload: 1 }), reset(16, { payload: { name: 'Error', message: 'then this' }, reason: 'then this' })],
  },
  {
    call: 'reset(300) by the handler',
    handler: (_, stream) => {
      stream.reset(300, 'why');
    },
    acceptor: [reset(300, { reason: 'why' })],
  },
];

const UPLOADS: readonly Row[] = [
  {
    call: 'a handler that settles while the remote uploads without a reader',
    handler: () => undefined,
    acceptor: [data({ end: true }), reset(0)],
  },
  {
    call: 'a handler that replies while the remote uploads without a reader',
    handler: (_, stream) => stream.reply('enough'),
    acceptor: [data({ end: true, payload: 'enough' }), reset(0)],
  },
  {
    call: 'a handler that settles while a subscriber reads the upload',
    handler: (_, stream) => void stream.subscribe(),
    acceptor: [data({ end: true })],
  },
  {
    call: 'a handler that settles after the last reader of the upload has left',
    handler: (_, stream) => {
      stream.subscribe().unsubscribe();
    },
    acceptor: [data({ end: true }), reset(0)],
  },
  {
    call: 'a handler that fails after its end, while the remote uploads',
    handler: (_, stream) => {
      void stream.reply('enough');
      throw new Error('too late');
    },
    acceptor: [data({ end: true, payload: 'enough' }), reset(0)],
  },
];

const CANCELS: readonly Row[] = [
  {
    call: 'unsubscribing from a stream',
    act: (peer) => {
      peer.open('p', { end: true }).subscribe().unsubscribe();
    },
    dialer: [open({ end: true, payload: 'p' }), reset(8, { reason: 'unsubscribed' })],
  },
  {
    call: 'unsubscribing from open$',
    act: (peer) => {
      peer.open$('p').subscribe().unsubscribe();
    },
    dialer: [open({ end: true, payload: 'p' }), reset(8, { reason: 'unsubscribed' })],
  },
  {
    call: 'unsubscribing from open$ with input',
    act: (peer) => {
      peer.open$('p', { input: NEVER }).subscribe().unsubscribe();
    },
    dialer: [open({ payload: 'p' }), reset(8, { reason: 'unsubscribed' })],
  },
  {
    call: 'unsubscribing from request$',
    act: (peer) => {
      peer.request$('p').subscribe().unsubscribe();
    },
    dialer: [open({ end: true, payload: 'p' }), reset(8, { reason: 'unsubscribed' })],
  },
  {
    call: 'an AbortSignal',
    act: (peer) => {
      const abort = new AbortController();
      peer.open('p', { signal: abort.signal }).subscribe(ignored);
      abort.abort();
    },
    dialer: [open({ payload: 'p' }), reset(8, { reason: 'aborted' })],
  },
  {
    call: 'take(n)',
    act: (peer) => peer.open('p', { end: true }).pipe(take(1)).subscribe(),
    handler: stays(1, 2),
    dialer: [open({ end: true, payload: 'p' }), reset(8, { reason: 'unsubscribed' })],
  },
  {
    call: 'break out of for await',
    act: async (peer) => {
      for await (const value of peer.open('p', { end: true })) if (value === 1) break;
    },
    handler: stays(1, 2),
    dialer: [open({ end: true, payload: 'p' }), reset(8, { reason: 'unsubscribed' })],
  },
  {
    call: 'a second payload in answer to a request',
    act: (peer) => peer.request('p'),
    handler: stays(1, 2),
    dialer: [open({ end: true, payload: 'p' }), reset(8, { reason: 'one answer was expected' })],
  },
  {
    call: 'a time-out',
    act: (peer) => peer.open('p', { timeoutMs: 50 }).subscribe(ignored),
    handler: stays(),
    afterMs: 50,
    dialer: [open({ payload: 'p' }), reset(17, { reason: 'not done within 50 ms' })],
  },
  {
    call: 'the time-out of a request whose answer arrived but did not end',
    act: (peer) => peer.request('p', { timeoutMs: 50 }),
    handler: stays(1),
    afterMs: 50,
    dialer: [open({ end: true, payload: 'p' }), reset(17, { reason: 'not done within 50 ms' })],
  },
];

const CONNECTION: readonly Row[] = [
  { call: 'close()', act: (peer) => peer.close(), dialer: [{ type: 'goaway', code: 0, last_stream: 0 }] },
  {
    call: 'close({ code, reason })',
    act: (peer) => peer.close({ code: 2, reason: 'maintenance' }),
    dialer: [{ type: 'goaway', code: 2, last_stream: 0, reason: 'maintenance' }],
  },
  {
    call: 'notify(x), then close()',
    act: (peer) => {
      peer.notify('x');
      return peer.close();
    },
    dialer: [open({ end: true, payload: 'x' }), { type: 'goaway', code: 0, last_stream: 0 }],
  },
];

describe.each(CODECS)('Emitted frames with %s', (_name, codec) => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  async function play({ act = (peer) => peer.open('p', { end: true }), handler, afterMs = 0 }: Row) {
    const { dialer, acceptor } = createPair({ codec });
    const frames = { dialer: framesOf(dialer), acceptor: framesOf(acceptor) };
    if (handler !== undefined) acceptor.onStream(handler);
    const acted = act(dialer, acceptor);
    await time.advance(afterMs);
    await acted;
    return frames;
  }

  describe.each<[string, readonly Row[]]>([
    ['Calls that open', OPENS.map((row) => ({ handler: stays(), ...row }))],
    ['The opener', OPENERS.map((row) => ({ handler: stays(), ...row }))],
    ['The answer', ANSWERS],
    ['The answer to an upload', UPLOADS.map((row) => ({ act: (peer) => peer.open('p'), ...row }))],
    ['A cancel', CANCELS],
    ['The connection', CONNECTION],
  ])('%s', (_part, rows) => {
    it.each(rows.map((row) => [row.call, row] as const))('Peer emits the frames of the table for %s', async (_call, row) => {
      const frames = await play(row);
      if (row.dialer !== undefined) expect(frames.dialer).toEqual(row.dialer);
      if (row.acceptor !== undefined) expect(frames.acceptor).toEqual(row.acceptor);
      expect(logs.warnings.filter((line) => !line.includes('refused a stream with'))).toEqual(row.warnings ?? []);
    });
  });
});
