import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { provideZonelessChangeDetection } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { describe, expect, it } from '@jest/globals';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { NEVER } from 'rxjs';
import { injectCall, injectPeer, muxResource, provideMux } from '../../src/angular.js';
import * as bun from '../../src/bun.js';
import { answer, answering, channel, client, contract, request, shared, stream, upload } from '../../src/contract.js';
import * as crossws from '../../src/crossws.js';
import * as deno from '../../src/deno.js';
import { assemble, connect, JsonCodec, Peer, reopenOnReconnect, respond, retryWhenSafe, through, withCredit } from '../../src/index.js';
import type { ConnectOptions } from '../../src/index.js';
import { answerInspector, inspect, play, record } from '../../src/inspect.js';
import { showInspector } from '../../src/inspector.js';
import { natsLog } from '../../src/nats.js';
import { accept, connect as connectOfNode, handleUpgrade, serve, Totals } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { instrument } from '../../src/otel.js';
import { MuxProvider, useCall, useStream, useSuspenseStream } from '../../src/react.js';
import { ipcLog } from '../../src/ipc.js';
import { redisLog } from '../../src/redis.js';
import { sessionEnds } from '../../src/session.js';
import * as solid from '../../src/solid.js';
import * as svelte from '../../src/svelte.js';
import { queries } from '../../src/tanstack.js';
import { createPair, createServer, fakePeer, frameMarbles, peerFromMarbles, replay } from '../../src/testing.js';
import { MemoryLink } from '../../src/testing/memory-link.js';
import { MemorySocket } from '../../src/testing/memory-socket.js';
import { rxmuxInspector } from '../../src/vite.js';
import * as vue from '../../src/vue.js';
import * as workerd from '../../src/workerd.js';
import { answerTopic, catchUp, memoryBus, memoryLog, presence, replayable, topic } from '../../src/topics.js';
import { application } from '../angular/application.js';
import { FakeClient, FakeServer } from '../redis/fake-redis.js';

const URL = 'ws://127.0.0.1:1';

/** Options from a program without types. */
const given = (options: object): never => options as never;
const socket = (): MemorySocket => new MemorySocket(new MemoryLink({ protocol: 'mux.v1.json' }).ends.acceptor, null);
const dialer = (): Peer => createPair({ acceptor: { onStream: () => undefined } }).dialer;
const upgrade = (options: object): Peer =>
  handleUpgrade(new IncomingMessage(new Socket()), new PassThrough(), Buffer.alloc(0), given(options));

/** The text for an option that `place` does not have. It names the nearest option, or all options where none is near. */
const refusalOf = (place: string, misspelt: string): RegExp =>
  new RegExp(`^${place}: (no '${misspelt}'; did you mean '\\w+'\\?|expected one of .+, got '${misspelt}')$`);

describe('A misspelt option is refused, because the program would run without the option', () => {
  it.each<[string, (options: object) => unknown, string, string]>([
    ['serve of rxmux/node', (options) => serve(given({ port: 0, ...options })), 'verfy', 'options'],
    ['serve of rxmux/bun', (options) => bun.serve(given(options)), 'verfy', 'options'],
    ['serve of rxmux/deno', (options) => deno.serve(given(options)), 'verfy', 'options'],
    ['serve of rxmux/workerd', (options) => workerd.serve(given(options)), 'verfy', 'options'],
    ['serve of rxmux/crossws', (options) => crossws.serve(given(options)), 'verfy', 'options'],
    ['serve with an option of a dialer', (options) => serve(given({ port: 0, ...options })), 'reconnect', 'options'],
    ['handleUpgrade', upgrade, 'orgins', 'options'],
    ['handleUpgrade with an option of serve', upgrade, 'port', 'options'],
    ['accept', (options) => accept(socket(), given(options)), 'onHelo', 'options'],
    ['new Peer', (options) => new Peer(socket(), given({ isDialer: false, ...options })), 'onstream', 'options'],
    ['connect of rxmux', (options) => connect(URL, given(options)), 'headers', 'options'],
    ['connect of rxmux/node', (options) => connectOfNode(URL, given(options)), 'recconect', 'options'],
    ['the option reconnect', (reconnect) => connect(URL, { reconnect }), 'maxAtempts', 'reconnect'],
    ['the option keepalive', (keepalive) => connect(URL, { keepalive }), 'idle', 'keepalive'],
    ['Peer.close', (options) => dialer().close(options), 'drainMS', 'close'],
    ['the option retry', (retry) => dialer().request$(1, { retry }), 'counts', 'retry'],
    ['retryWhenSafe', (options) => retryWhenSafe(options), 'counts', 'retry'],
    ['Peer.request$', (options) => dialer().request$(1, options), 'timeout', 'options'],
    ['Peer.request$ with an option of open$', (options) => dialer().request$(1, options), 'input', 'options'],
    ['Peer.open', (options) => dialer().open(1, options), 'signl', 'options'],
    ['Peer.open with an option of open$', (options) => dialer().open(1, options), 'input', 'options'],
    ['Peer.open$', (options) => dialer().open$(1, options), 'timeoutms', 'options'],
    ['Peer.open$ with an option of open', (options) => dialer().open$(1, options), 'end', 'options'],
    ['Peer.notify', (options) => dialer().notify(1, options), 'header', 'options'],
    ['Peer.notify with an option of request', (options) => dialer().notify(1, options), 'timeoutMs', 'options'],
    ['Stream.send', (options) => dialer().open().send(1, options), 'header', 'options'],
    ['Stream.sendAll', (options) => dialer().open().sendAll([1], options), 'overflw', 'options'],
    ['Stream.reply', (options) => dialer().open().reply(1, options), 'trailer', 'options'],
    ['Stream.end', (options) => dialer().open().end(options), 'trailer', 'options'],
    ['sessionEnds', (options) => sessionEnds(dialer().open(), Infinity, options), 'askMs', 'options'],
  ])('%s', (_, act, misspelt, place) => {
    expect(() => act({ [misspelt]: 1 })).toThrow(TypeError);
    expect(() => act({ [misspelt]: 1 })).toThrow(refusalOf(place, misspelt));
  });
});

describe('A misspelt option is refused by each door, because the program would run without the option', () => {
  /** Options from a program without types. */
  const given = (options: object): never => options as never;
  const api = contract({
    echo: request<number, number>(),
    ticks: stream<number, number>(),
    sum: upload<number, number, number>(),
    sums: channel<number, number, number>(),
  });
  const answers = { echo: (n: number) => n, ticks: (n: number) => [n], sum: (n: number) => n, sums: (n: number) => [n] };
  /** The helpers of a scheduler that never runs. */
  const helpers = { cold: () => NEVER, hot: () => NEVER } as never;
  const peer = (): Peer => createPair().dialer;
  const open = (): never[] => [];

  /** The peer of an Angular application. */
  function providedPeer(options: ConnectOptions): Peer {
    TestBed.resetTestingModule();
    return application([provideZonelessChangeDetection(), provideMux('ws://test', options)], injectPeer);
  }

  it.each<[string, (options: object) => unknown, string, string]>([
    ['createPair', (options) => createPair(given(options)), 'latency', 'options'],
    ['createPair with an option of one end', (options) => createPair(given(options)), 'onStream', 'options'],
    ['the dialer of createPair', (dialer) => createPair({ dialer }), 'onstream', 'dialer'],
    ['the acceptor of createPair', (acceptor) => createPair({ acceptor }), 'onstream', 'acceptor'],
    ['createPair of a contract', (options) => createPair(api, answers, given(options)), 'arround', 'options'],
    ['createServer', (options) => createServer(given(options)), 'latency', 'options'],
    ['replay', (options) => replay('', given(options)), 'sped', 'options'],
    ['peerFromMarbles', (options) => peerFromMarbles(helpers, '-', frameMarbles(), given(options)), 'isdialer', 'options'],
    ['fakePeer', (options) => fakePeer(helpers, { a: '-a' }, given(options)), 'value', 'options'],
    ['fakePeer of a contract', (options) => fakePeer(helpers, api, { echo: '-a' }, given(options)), 'name', 'options'],
    ['the option limits', (limits) => createPair({ limits }), 'maxStream', 'limits'],
    ['presence', (options) => presence(memoryBus(), options), 'lease', 'options'],
    ['topic', (options) => topic(peer(), open, given(options)), 'onlost', 'options'],
    ['memoryLog', (options) => memoryLog(options), 'keeps', 'options'],
    ['ipcLog', (options) => ipcLog('topic', options), 'keeps', 'options'],
    ['replayable', (options) => replayable([], options), 'idle', 'options'],
    ['redisLog', (options) => redisLog(new FakeClient(new FakeServer()), given({ stream: 's', ...options })), 'kep', 'options'],
    ['natsLog', (options) => natsLog({} as never, given({ stream: 's', subject: 's', ...options })), 'keep', 'options'],
    ['catchUp', (options) => catchUp(memoryLog(), null, options), 'form', 'options'],
    ['answerTopic', (options) => answerTopic(memoryLog(), null, options), 'form', 'options'],
    ['client', (options) => client(peer(), api, options), 'valid', 'options'],
    ['RequestCall', (options) => client(peer(), api).echo(1, given(options)), 'timeout', 'options'],
    ['StreamCall', (options) => client(peer(), api).ticks(1, given(options)), 'timeout', 'options'],
    [
      'RequestCall.notify',
      (options) => {
        client(peer(), api).echo.notify(1, given(options));
      },
      'header',
      'options',
    ],
    ['UploadCall', (options) => client(peer(), api).sum(1, [1], options), 'timeout', 'options'],
    ['ChannelCall', (options) => client(peer(), api).sums(1, [1], options), 'timeout', 'options'],
    ['answer', (options) => answer(api, answers, options), 'arround', 'options'],
    ['answering', (options) => answering(api, answers, options), 'verfy', 'options'],
    ['record', (options) => record(peer(), options), 'payload', 'options'],
    ['inspect', (options) => inspect(peer(), options), 'history', 'options'],
    ['answerInspector', (options) => answerInspector(inspect(peer()), given({ verify: () => true, ...options })), 'maxLines', 'options'],
    ['play', (options) => play([], given({ side: 'dialer', heard$: NEVER, ...options })), 'sped', 'options'],
    [
      'useStream of rxmux/react',
      (options) => renderToString(createElement(() => useStream(() => NEVER, [], options).status)),
      'keepvalue',
      'options',
    ],
    [
      'useSuspenseStream',
      (options) => renderToString(createElement(() => useSuspenseStream(() => [1], [], options).status)),
      'fallback',
      'options',
    ],
    ['showInspector', (options) => showInspector(peer(), options), 'isOpened', 'options'],
    ['rxmuxInspector', (options) => rxmuxInspector(options), 'open', 'options'],
    ['useStream of rxmux/vue', (options) => vue.useStream(() => NEVER, [], options), 'keepvalue', 'options'],
    ['injectCall', (options) => injectCall(() => NEVER, options), 'abort', 'options'],
    ['useCall of rxmux/vue', (options) => vue.useCall(() => NEVER, options), 'abort', 'options'],
    [
      'useStream of rxmux/svelte',
      (options) =>
        svelte.useStream(
          () => NEVER,
          () => [],
          options,
        ),
      'keepvalue',
      'options',
    ],
    ['useCall of rxmux/svelte', (options) => svelte.useCall(() => NEVER, options), 'abort', 'options'],
    [
      'useStream of rxmux/solid',
      (options) =>
        solid.useStream(
          () => NEVER,
          () => [],
          options,
        ),
      'keepvalue',
      'options',
    ],
    ['useCall of rxmux/solid', (options) => solid.useCall(() => NEVER, options), 'abort', 'options'],
    ['MuxProvider of rxmux/solid', (properties) => solid.MuxProvider(given({ peer: peer(), ...properties })), 'peers', 'MuxProvider'],
    [
      'useCall of rxmux/react',
      (options) => renderToString(createElement(() => String(useCall(() => NEVER, options).pending))),
      'abort',
      'options',
    ],
    ['shared', (options) => shared(() => NEVER, options), 'keeps', 'shared'],
    ['queries', (options) => queries(peer(), api, options), 'valid', 'options'],
    ['RequestQueries.queryOptions', (options) => queries(peer(), api).echo.queryOptions(1, options), 'timeout', 'options'],
    ['RequestQueries.mutationOptions', (options) => queries(peer(), api).echo.mutationOptions(options), 'timeout', 'options'],
    ['UploadQueries.mutationOptions', (options) => queries(peer(), api).sum.mutationOptions(options), 'timeout', 'options'],
    ['StreamQueries.streamedOptions', (options) => queries(peer(), api).ticks.streamedOptions(1, options), 'reduce', 'options'],
    ['MuxProvider of rxmux/react', (properties) => MuxProvider(given({ peer: peer(), ...properties })), 'peers', 'MuxProvider'],
    ['muxResource', (options) => muxResource(given({ stream: () => NEVER, ...options })), 'parms', 'options'],
    ['provideMux', (options) => providedPeer(given(options)), 'reconect', 'options'],
    ['through when it is piped', (options) => NEVER.pipe(through(peer(), 1, options)), 'overlow', 'options'],
    ['respond', (options) => respond(() => NEVER, options), 'overlow', 'options'],
    ['Credit.spend', (options) => withCredit(1).spend(NEVER, options), 'overlow', 'spend'],
    ['Link.cut', (reason) => createPair().link.cut(reason), 'cod', 'cut'],
    ['assemble', (limits) => assemble(new JsonCodec(), limits), 'maxStream', 'limits'],
    ['instrument', (options) => instrument(peer(), options), 'method', 'options'],
    ['new Totals', (limits) => new Totals(limits), 'maxPeers', 'totalLimits'],
    ['reopenOnReconnect', (how) => reopenOnReconnect(peer(), { open, ...how }), 'intial', 'reopenOnReconnect'],
  ])('%s', (_, act, misspelt, place) => {
    expect(() => act({ [misspelt]: 1 })).toThrow(TypeError);
    expect(() => act({ [misspelt]: 1 })).toThrow(refusalOf(place, misspelt));
  });

  it.each<[string, (server: MuxServer, options: object) => unknown, string, string]>([
    ['PeerServer.notify', (server, options) => server.notify(1, options), 'header', 'options'],
    ['PeerServer.close', (server, options) => server.close(options), 'drainMS', 'close'],
    ['MuxServer.close', (server, options) => server.close(options), 'drain', 'close'],
  ])('%s', async (_, act, misspelt, place) => {
    await using server = serve({ port: 0, host: '127.0.0.1' });
    await server.listening;
    expect(() => act(server, { [misspelt]: 1 })).toThrow(TypeError);
    expect(() => act(server, { [misspelt]: 1 })).toThrow(refusalOf(place, misspelt));
  });

  it.each<[string, (options: object) => Promise<unknown>, string]>([
    ['Peer.request', (options) => peer().request(1, options), 'timeout'],
    ['RequestCall.promise', (options) => client(peer(), api).echo.promise(1, options), 'timeout'],
    ['UploadCall.promise', (options) => client(peer(), api).sum.promise(1, [1], options), 'timeout'],
    ['Log.publish of memoryLog', (options) => memoryLog().publish(1, options), 'keys'],
    ['Log.publish of redisLog', (options) => redisLog(new FakeClient(new FakeServer()), { stream: 's' }).publish(1, options), 'keys'],
  ])('%s, by a promise that rejects', async (_, call, misspelt) => {
    const message = expect.stringMatching(refusalOf('options', misspelt));
    await expect(call({ [misspelt]: 1 })).rejects.toEqual(expect.objectContaining({ name: 'TypeError', message }));
  });
});
