import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { connect, Peer, retryWhenSafe } from '../../src/index.js';
import { accept, connect as connectOfNode, handleUpgrade, serve } from '../../src/node.js';
import { createPair } from '../../src/testing.js';
import { MemoryLink } from '../../src/testing/memory-link.js';
import { MemorySocket } from '../../src/testing/memory-socket.js';

const URL = 'ws://127.0.0.1:1';

/** Options from a program without types. */
const given = (options: object): never => options as never;
const socket = (): MemorySocket => new MemorySocket(new MemoryLink({ protocol: 'mux.v1.json' }).ends.acceptor, null);
const dialer = (): Peer => createPair({ acceptor: { onStream: () => undefined } }).dialer;
const upgrade = (options: object): Peer =>
  handleUpgrade(new IncomingMessage(new Socket()), new PassThrough(), Buffer.alloc(0), given(options));

describe('A misspelt option is refused, because the program would run without the option', () => {
  it.each<[string, (options: object) => unknown, string, string]>([
    ['serve', (options) => serve(given({ port: 0, ...options })), 'verfy', 'options'],
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
  ])('%s', (_, act, misspelt, place) => {
    expect(() => act({ [misspelt]: 1 })).toThrow(TypeError);
    expect(() => act({ [misspelt]: 1 })).toThrow(new RegExp(`^${place}: expected one of .+, got '${misspelt}'$`));
  });
});
