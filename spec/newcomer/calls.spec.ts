import { config, filter, firstValueFrom, isObservable, lastValueFrom, map, mergeMap, NEVER, of, toArray } from 'rxjs';
import { z } from 'zod';
import { answering, client, contract, fail, request, stream, upload } from '../../src/contract.js';
import type { Answers } from '../../src/contract.js';
import { respond } from '../../src/index.js';
import type { StreamHandler } from '../../src/index.js';
import { serve } from '../../src/node.js';
import { sessionRefused } from '../../src/session.js';
import { mistakes, untyped } from './mistake.js';
import type { Lab } from './mistake.js';

const api = contract({ square: request<{ n: number }, number>(), count: stream<{ to: number }, number>() });
const kept: Answers<typeof api> = { square: ({ n }) => n * n, count: ({ to }) => of(...Array(to).keys()) };
const answers = answering(api, kept);
const square = (value: unknown) => answering(api, { ...kept, square: () => untyped(value) });

/** Answers whose request throws a value. */
const throwing = (value: unknown) =>
  answering(api, {
    ...kept,
    square: () => {
      throw value;
    },
  });

/** The outcome of a request whose answer throws a value. */
const thrown = async (lab: Lab, value: unknown) => (await lab.calls(api, throwing(value))).square.promise({ n: 1 });

/** Reads a token from a hello without a check. */
const trusting: StreamHandler = (hello, opened) => {
  const { token } = hello as { token: string };
  return opened.reply(token.startsWith('x'));
};

const seats = contract({ book: request<string, string, { TAKEN: { by: string } }>() });

/** A stack whose first frame is the program's, and whose end is folded. */
const ownFrameFirst = (head: RegExp) => new RegExp(`${head.source}\\n {4}at .*calls\\.spec\\.ts[^]*\\n {4}at \\d+ of rxmux and below$`);

mistakes([
  {
    mistake: 'the server has `onHello`, and the client lacks `hello`',
    program: async (lab) =>
      (await lab.calls(api, { ...answers, onHello: (_, opened) => opened.reply({ welcome: true }) })).square.promise({ n: 2 }),
    fails: /reset with PROTOCOL_ERROR: this server expects a hello: pass connect\(\) a hello$/,
    prints: [/refused a stream with PROTOCOL_ERROR: this server expects a hello: pass connect\(\) a hello$/],
  },
  {
    mistake: 'the client lacks `hello`, and `onHello` reads a token without a check',
    program: async (lab) => (await lab.calls(api, { ...answers, onHello: trusting })).square.promise({ n: 2 }),
    fails: /this server expects a hello: pass connect\(\) a hello$/,
    prints: [/refused a stream with PROTOCOL_ERROR: this server expects a hello/],
  },
  {
    mistake: 'a hello has no token, and `onHello` reads it without a check',
    program: async (lab) =>
      (await lab.calls(api, { ...answers, onHello: trusting }, { hello: () => ({ payload: {} }) })).square.promise({ n: 2 }),
    fails: /^the hello has failed: Cannot read properties of undefined \(reading 'startsWith'\)$/,
    prints: [ownFrameFirst(/the hello handler onHello failed TypeError: Cannot read properties of undefined \(reading 'startsWith'\)/)],
  },
  {
    mistake: 'the client has `hello`, and the server lacks `onHello`',
    program: async (lab) => (await lab.calls(api, answers, { hello: () => ({ payload: 'token' }) })).square.promise({ n: 2 }),
    fails: /^the hello has failed: .*this server expects no hello: set its onHello, or pass connect\(\) no hello$/,
    prints: [/refused a stream with REFUSED: this server expects no hello/],
  },
  {
    mistake: 'hello returns `{ token }` in place of `{ payload: { token } }`',
    program: async (lab) =>
      (await lab.calls(api, { ...answers, onHello: trusting }, { hello: () => untyped({ token: 'x' }) })).square.promise({ n: 2 }),
    fails: /^hello\(\): expected \{ payload, headers, onReply \}, got 'token': write \{ payload: \{ token \} \}$/,
  },
  {
    mistake: 'a client with `reconnect` goes on dialing with a token that the server refuses',
    program: async (lab) => {
      const onHello: StreamHandler = () => {
        throw sessionRefused('this token is not known');
      };
      const options = { hello: () => ({ payload: 'token' }), reconnect: { maxAttempts: Infinity, minDelayMs: 1 } };
      return (await lab.calls(api, { ...answers, onHello }, options)).square.promise({ n: 2 });
    },
    fails: /^the hello has failed: this token is not known$/,
  },
  {
    mistake: 'a client with `reconnect` dials for ever with a token on which `onHello` throws any error',
    program: async (lab) => {
      const onHello: StreamHandler = () => {
        throw new Error('no such token');
      };
      const options = { hello: () => ({ payload: 'token' }), reconnect: { maxAttempts: Infinity, minDelayMs: 1, maxDelayMs: 2 } };
      const peer = lab.dial(await lab.serve({ ...answers, onHello }), options);
      await firstValueFrom(peer.status$.pipe(filter((status) => status.state === 'waiting' && status.attempt > 3)));
      return client(peer, api).square.promise({ n: 2 }, { timeoutMs: 20 });
    },
    fails: /^expected the stream to end within 20 ms, but it was never sent: .*; last dial: the hello was refused$/,
    // One line at each end, however many dials.
    prints: [
      ownFrameFirst(/the hello handler onHello failed Error: no such token/),
      /a dial failed, and more follow: the hello has failed: no such token$/,
    ],
  },
  {
    mistake: 'an answer returns a row with fields that its `reply` schema does not name',
    program: async (lab) => {
      const own = contract({ me: request({ reply: z.object({ name: z.string() }) }) });
      const row = { name: 'ann', passwordHash: 'SECRET' };
      return (await lab.calls(own, answering(own, { me: () => row }))).me.promise();
    },
    gets: { name: 'ann' },
    because: 'the answering side sends what the schema returns',
  },
  {
    mistake: 'an answer returns a number where the `reply` schema has a text',
    program: async (lab) => {
      const own = contract({ name: request({ reply: z.string() }) });
      return (await lab.calls(own, answering(own, { name: () => untyped(3) }))).name.promise();
    },
    fails: /^the reply of 'name' does not fit its schema: the answering side's log has the issues$/,
    prints: [/'name' sends an invalid reply .*the reply of 'name' is invalid: Invalid input: expected string, received number/],
  },
  {
    mistake: 'an answer throws a text',
    program: (lab) => thrown(lab, 'sold out'),
    fails: /^sold out$/,
    prints: [/a handler failed sold out$/],
  },
  { mistake: 'an answer throws a number', program: (lab) => thrown(lab, 42), fails: /^42$/, prints: [/a handler failed 42$/] },
  {
    mistake: 'an answer throws undefined',
    program: (lab) => thrown(lab, undefined),
    fails: /^unknown error: throw an Error$/,
    prints: [/a handler failed undefined$/],
  },
  {
    mistake: 'an answer throws an object without a message',
    program: (lab) => thrown(lab, { code: 7 }),
    fails: /^unknown error: throw an Error$/,
    prints: [/a handler failed \{ code: 7 \}$/],
  },
  {
    mistake: 'an answer throws an Error, and its author looks for the own line in the stack',
    program: (lab) => thrown(lab, new Error('no stock')),
    fails: /^no stock$/,
    prints: [ownFrameFirst(/a handler failed Error: no stock/)],
  },
  {
    mistake: 'the answer to a request returns nothing',
    program: async (lab) => (await lab.calls(api, square(undefined))).square.promise({ n: 1 }),
    gets: null,
    because: 'a reply without a value is null, and TypeScript refuses the answer',
  },
  {
    mistake: 'the handler of `onStream` returns its answer',
    program: async (lab) => lab.dial(await lab.serve({ onStream: () => untyped(5) })).request('x'),
    gets: null,
    because: 'a line says what to write',
    prints: [
      /a handler returned a value \(number\) and sent nothing, .*: answer with stream\.reply\(\), stream\.sendAll\(\) or respond\(\)$/,
    ],
  },
  {
    mistake: 'the answer to a stream returns one value',
    program: async (lab) => firstValueFrom((await lab.calls(api, answering(api, { ...kept, count: () => untyped(5) }))).count({ to: 1 })),
    fails: /^the answer to 'count': expected items, such as an Observable or an iterable, got 5$/,
    prints: [/a handler failed TypeError: the answer to 'count': expected items/],
  },
  {
    mistake: 'a call is awaited without `.promise`',
    program: async (lab) => {
      const call: unknown = (await lab.calls(api, answers)).square({ n: 2 });
      return isObservable(await call);
    },
    gets: true,
    because: 'a call is a cold Observable, as everywhere in RxJS; TypeScript refuses its use as a number',
  },
  {
    mistake: 'a call is used as a promise',
    program: async (lab) => ((await lab.calls(api, answers)).square({ n: 2 }) as unknown as Promise<number>).then(String),
    fails: /then is not a function$/,
  },
  {
    mistake: 'a call has no `subscribe`',
    program: async (lab) => {
      const asked: number[] = [];
      const calls = await lab.calls(api, answering(api, { ...kept, square: ({ n }) => asked.push(n) }));
      calls.square({ n: 2 });
      await calls.square.promise({ n: 3 });
      return asked;
    },
    gets: [3],
    because: 'a cold Observable begins at its subscription, as everywhere in RxJS',
  },
  {
    mistake: 'the name of a call is misspelt',
    program: async (lab) => lab.dial(await lab.serve(answers)).request(['sqare', { n: 1 }]),
    fails: /^no 'sqare'; did you mean 'square'\?$/,
    prints: [/refused a stream with APPLICATION_ERROR: no 'sqare'; did you mean 'square'\?$/],
  },
  {
    mistake: 'a payload `{ op }` goes to a server with a contract',
    program: async (lab) => lab.dial(await lab.serve(answers)).request({ op: 'square', n: 1 }),
    fails: /: refused: this side answers the contract calls square, count; a call is the payload \["square", value\]$/,
    prints: [/refused a stream with REFUSED: this side answers the contract calls square, count/],
  },
  {
    mistake: 'a peer without `reconnect` is called after its socket was lost',
    program: async (lab) => {
      const server = serve({ port: 0, ...answers });
      await server.listening;
      const peer = lab.dial(server.url);
      await peer.opened;
      await server.close();
      await peer.closed;
      const failure: unknown = await client(peer, api)
        .square.promise({ n: 1 })
        .catch((error: unknown) => error);
      return [String(failure), (failure as { retriable?: unknown }).retriable];
    },
    gets: ['RefusedError: refused: its socket is gone (1000), and no reconnect was asked for', false],
    because: 'the error says why, and that no retry on this peer helps',
  },
  {
    mistake: 'a peer is called after its `close`',
    program: async (lab) => {
      const peer = lab.dial(await lab.serve(answers));
      await peer.opened;
      await peer.close();
      return peer.request(['square', { n: 1 }]);
    },
    fails: /^refused: this peer was closed$/,
  },
  {
    mistake: 'a page keeps 1500 subscriptions',
    program: async (lab) => {
      const own = contract({ forever: stream<void, number>() });
      const calls = await lab.calls(own, answering(own, { forever: () => NEVER }));
      await lastValueFrom(of(...Array(1_500).keys()).pipe(mergeMap(() => calls.forever())));
    },
    fails: /^stream 2001: refused: more than 1000 streams \(maxStreams\)$/,
    prints: [/refused a stream with REFUSED: more than 1000 streams \(maxStreams\)$/],
  },
  {
    mistake: 'a payload does not fit its schema',
    program: async (lab) => {
      const own = contract({ half: request({ payload: z.object({ n: z.number() }), reply: z.number() }) });
      return (await lab.calls(own, answering(own, { half: ({ n }) => n / 2 }))).half.promise(untyped({ n: '1' }));
    },
    fails: /^the payload of 'half' is invalid: n: Invalid input: expected number, received string$/,
    prints: [/refused a stream with APPLICATION_ERROR: the payload of 'half' is invalid$/],
  },
  {
    mistake: 'an answer takes longer than `timeoutMs`',
    program: async (lab) => {
      const peer = lab.dial(await lab.serve(square(new Promise(() => undefined))));
      await peer.opened;
      return client(peer, api).square.promise({ n: 1 }, { timeoutMs: 20 });
    },
    fails: /^stream 1: expected the stream to end within 20 ms, got no end$/,
  },
  {
    mistake: 'a subscription to a call has no `error` handler',
    program: async (lab) => {
      const calls = await lab.calls(api, throwing('not now'));
      calls.square({ n: 1 }).subscribe();
      return calls.square.promise({ n: 1 });
    },
    fails: /^not now$/,
    prints: [
      /a handler failed not now$/,
      /a handler failed not now$/,
      /a stream failed and its subscriber has no error handler RemoteError: not now\n/,
    ],
  },
  {
    mistake: 'a subscription behind an operator has no `error` handler',
    program: async (lab) => {
      const calls = await lab.calls(api, throwing('not here'));
      const unhandled = new Promise((_, reject) => (config.onUnhandledError = reject));
      lab.after(() => (config.onUnhandledError = null));
      calls
        .square({ n: 1 })
        .pipe(map((n) => n + 1))
        .subscribe();
      await unhandled;
    },
    // As everywhere in RxJS, which throws the error on a timer if the program sets no onUnhandledError.
    fails: /^not here$/,
    prints: [/a handler failed not here$/],
  },
  {
    mistake: 'a function of `respond` returns a text',
    program: async (lab) => {
      const server = serve({ port: 0 });
      lab.after(() => server.close());
      server.peers$.pipe(mergeMap((peer) => peer.streams$.pipe(respond(() => 'hello')))).subscribe();
      await server.listening;
      return lab.dial(server.url).request('x');
    },
    gets: 'h',
    because: "respond reads a text letter by letter, as rxjs's from does; Calls and Troubleshooting say so",
  },
  {
    mistake: 'a payload goes to a `request<void>`',
    program: async (lab) => {
      const own = contract({ now: request<void, number>() });
      return (await lab.calls(own, answering(own, { now: () => 1 }))).now.promise(untyped({ n: 1 }));
    },
    gets: 1,
    because: 'the answer does not read it, and TypeScript refuses it',
  },
  {
    mistake: 'an object of answers has one that the contract lacks',
    program: async (lab) => (await lab.calls(api, answering(api, untyped({ ...kept, cube: () => 1 })))).square.promise({ n: 2 }),
    gets: 4,
    because: 'an instance of a class may have other methods, and TypeScript refuses it in a literal',
  },
  {
    mistake: 'an object of answers lacks one',
    program: () => answering(api, untyped({ square: () => 1 })),
    fails: /^answers\.count: expected a function, got undefined$/,
  },
  {
    mistake: 'an answer takes the `abort` of its signal for a caller that has left',
    program: async (lab) => {
      const own = contract({ store: upload<void, string, number>() });
      const aborts: unknown[] = [];
      const calls = await lab.calls(
        own,
        answering(own, {
          store: async (_, { input, signal }) => {
            signal.addEventListener('abort', () => aborts.push(signal.reason));
            return (await lastValueFrom(input.pipe(toArray()))).length;
          },
        }),
      );
      return [await calls.store.promise(undefined, ['a', 'b']), aborts];
    },
    gets: [2, []],
    because: 'the signal of an answered call does not abort',
  },
  {
    mistake: 'the data of a declared error are read as `error.data`',
    program: async (lab) => {
      const calls = await lab.calls(
        seats,
        answering(seats, {
          book: () => {
            throw fail(seats.book, 'TAKEN', { by: 'ann' });
          },
        }),
      );
      const failure: unknown = await calls.book.promise('12A').catch((error: unknown) => error);
      const error = failure as { readonly data?: unknown; readonly payload?: unknown };
      return [error.data, error.payload];
    },
    gets: [undefined, { name: 'TAKEN', message: 'TAKEN', data: { by: 'ann' }, declared: true }],
    because: 'the data are in the payload: isFailure narrows the error, and TypeScript refuses error.data',
  },
]);
