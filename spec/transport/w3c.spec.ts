import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Peer } from '../../src/index.js';
import { FakeSocket } from '../support/socket/fake.js';
import { turn, until } from '../support/socket/leaks.js';
import { virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { ReadyState } from '../../src/transport/transport.js';
import type { SocketClose } from '../../src/transport/transport.js';
import { W3cTransport } from '../../src/transport/w3c.js';

const LOST: SocketClose = { code: 1006, reason: '', wasClean: false };

/** Subscribes to a transport's messages and records them. */
function read(transport: W3cTransport) {
  const seen = { messages: [] as unknown[], completed: 0 };
  transport.messages$.subscribe({
    next: (message) => seen.messages.push(message),
    complete: () => {
      seen.completed++;
    },
  });
  return seen;
}

function opened(transport: W3cTransport) {
  const seen = { completed: 0 };
  transport.opened$.subscribe({
    complete: () => {
      seen.completed++;
    },
  });
  return seen;
}

describe('W3cTransport', () => {
  it('W3cTransport asks for ArrayBuffers and adds its listeners when it is made', () => {
    const socket = new FakeSocket('CONNECTING');
    new W3cTransport(socket);
    expect(socket.binaryType).toBe('arraybuffer');
    expect(socket.listening).toEqual({ message: 1, error: 1, close: 1 });
  });

  describe('opening', () => {
    it('W3cTransport completes `opened$` when the socket opens', () => {
      const socket = new FakeSocket('CONNECTING');
      const transport = new W3cTransport(socket);
      const seen = opened(transport);
      expect(seen.completed).toBe(0);
      socket.emit('open', {}, 'OPEN');
      expect(seen.completed).toBe(1);
      expect(transport.closed).toBeNull();
      expect(socket.listening).toEqual({ message: 1, error: 1, close: 1 });
    });

    it('W3cTransport completes `opened$` at once over an open socket', () => {
      expect(opened(new W3cTransport(new FakeSocket('OPEN'))).completed).toBe(1);
    });

    it('W3cTransport reports a socket that had closed before as lost, because its close event has passed', () => {
      const transport = new W3cTransport(new FakeSocket('CLOSED'));
      expect(opened(transport).completed).toBe(1);
      expect(transport.closed).toEqual(LOST);
      expect(read(transport).completed).toBe(1);
    });

    it('W3cTransport waits for the close event of a closing socket', () => {
      const socket = new FakeSocket('CLOSING');
      const transport = new W3cTransport(socket);
      expect(transport.closed).toBeNull();
      socket.emit('close', { code: 1000, reason: 'bye', wasClean: true }, 'CLOSED');
      expect(transport.closed).toEqual({ code: 1000, reason: 'bye', wasClean: true });
    });
  });

  describe('ending', () => {
    it.each<readonly [what: string, play: (socket: FakeSocket) => void, close: SocketClose]>([
      [
        'a close with a code',
        (s) => s.emit('close', { code: 1001, reason: 'away', wasClean: true }, 'CLOSED'),
        { code: 1001, reason: 'away', wasClean: true },
      ],
      [
        'a close with code 0, as some platforms report it without a close frame',
        (s) => s.emit('close', { code: 0, reason: '', wasClean: false }, 'CLOSED'),
        LOST,
      ],
      ['a close without an error', (s) => s.emit('close', { code: 1006, reason: '', wasClean: false }, 'CLOSED'), LOST],
      ['a close event without any fields', (s) => s.emit('close', {}, 'CLOSED'), LOST],
      ['a close event without `wasClean`', (s) => s.emit('close', { code: 4000 }, 'CLOSED'), { code: 4000, reason: '', wasClean: true }],
      [
        'an error and then a close',
        (s) => {
          s.emit('error', { message: 'reset by peer' }, 'CLOSED');
          s.emit('close', { code: 1006, reason: '', wasClean: false });
        },
        { ...LOST, reason: 'reset by peer' },
      ],
      [
        'an error that has a class only, as Node has it from version 24 on, and then a close',
        (s) => {
          s.emit('error', { message: '', error: new TypeError() }, 'CLOSED');
          s.emit('close', { code: 1006, reason: '', wasClean: false });
        },
        LOST,
      ],
      [
        'an error while open and then a close with a reason',
        (s) => {
          s.emit('error', { message: 'bad frame' });
          s.emit('close', { code: 1002, reason: 'told', wasClean: true }, 'CLOSED');
        },
        { code: 1002, reason: 'told', wasClean: true },
      ],
    ])('W3cTransport ends with %s', (_what, play, close) => {
      const socket = new FakeSocket();
      const transport = new W3cTransport(socket);
      const seen = read(transport);
      play(socket);
      expect(transport.closed).toEqual(close);
      expect(seen.completed).toBe(1);
    });

    it.each(['CONNECTING', 'CLOSED'] as const)(
      'W3cTransport ends one turn after an error without a close event, in state %s',
      async (state) => {
        const socket = new FakeSocket('CONNECTING');
        const transport = new W3cTransport(socket);
        const seen = opened(transport);
        socket.emit('error', { message: 'refused' }, state);
        expect(transport.closed).toBeNull();
        await turn();
        expect(transport.closed).toEqual({ ...LOST, reason: 'refused' });
        expect(seen.completed).toBe(1);
      },
    );

    it('W3cTransport does not end when an open socket reports an error', async () => {
      const socket = new FakeSocket();
      const transport = new W3cTransport(socket);
      socket.emit('error', { message: 'odd' });
      await turn();
      expect(transport.closed).toBeNull();
    });

    it('W3cTransport reports only the first end, and removes all listeners but the error listener', async () => {
      const socket = new FakeSocket();
      const transport = new W3cTransport(socket);
      const seen = read(transport);
      socket.emit('close', { code: 1000, reason: '', wasClean: true }, 'CLOSED');
      socket.emit('error', { message: 'too late' });
      await turn();
      transport.terminate('too late');
      transport.close(1000, 'too late');
      expect(transport.closed).toEqual({ code: 1000, reason: '', wasClean: true });
      expect(seen.completed).toBe(1);
      expect(socket.listening).toEqual({ error: 1 });
      // Once, at the close event: it may dial again by itself.
      expect(socket.closes).toEqual([[undefined, undefined]]);
    });

    it.each<readonly [what: string, play: (socket: FakeSocket) => void]>([
      ['a close', (s) => s.emit('close', { code: 1006 }, 'CLOSED')],
      ['an error without a close', (s) => s.emit('error', { message: 'refused' })],
    ])('W3cTransport closes a socket after %s, so that it does not dial again by itself', async (_what, play) => {
      const socket = new FakeSocket('CONNECTING');
      new W3cTransport(socket);
      play(socket);
      await turn();
      expect(socket.closes).toEqual([[undefined, undefined]]);
    });

    it('W3cTransport survives a socket that throws when it is closed again', () => {
      const close = (): never => {
        throw new Error('closed already');
      };
      const socket = Object.assign(new FakeSocket(), { close });
      const transport = new W3cTransport(socket);
      socket.emit('close', { code: 1000, reason: 'bye', wasClean: true }, 'CLOSED');
      expect(transport.closed).toEqual({ code: 1000, reason: 'bye', wasClean: true });
    });
  });

  describe('reading', () => {
    it('W3cTransport keeps early messages in order until a reader subscribes, then emits later ones at once', () => {
      const socket = new FakeSocket();
      const transport = new W3cTransport(socket);
      const bytes = new ArrayBuffer(2);
      socket.emit('message', { data: 'a' });
      socket.emit('message', { data: bytes });
      const seen = read(transport);
      socket.emit('message', { data: 'c' });
      expect(seen.messages).toEqual(['a', bytes, 'c']);
    });

    it('W3cTransport emits the unread messages of an ended socket, and then completes', () => {
      const socket = new FakeSocket();
      const transport = new W3cTransport(socket);
      socket.emit('message', { data: 'last words' });
      socket.emit('close', { code: 1000, reason: '', wasClean: true }, 'CLOSED');
      expect(read(transport)).toEqual({ messages: ['last words'], completed: 1 });
    });

    it('W3cTransport pauses the socket until a reader subscribes, where the platform can pause', () => {
      const calls: string[] = [];
      const socket = Object.assign(new FakeSocket(), { pause: () => calls.push('pause'), resume: () => calls.push('resume') });
      const transport = new W3cTransport(socket);
      socket.emit('message', { data: 'a' });
      expect(calls).toEqual(['pause']);
      transport.messages$.subscribe((message) => calls.push(String(message)));
      expect(calls).toEqual(['pause', 'resume', 'a']);
    });

    it('W3cTransport resumes a paused socket that is closing, so that its close event arrives', () => {
      const resume = jest.fn();
      const socket = Object.assign(new FakeSocket(), { pause: () => undefined, resume });
      const transport = new W3cTransport(socket);
      socket.emit('message', { data: 'a' }, 'CLOSING');
      read(transport);
      expect(resume).toHaveBeenCalledTimes(1);
    });

    it('W3cTransport resumes a socket that its owner paused, even before the first message', () => {
      const calls: string[] = [];
      const socket = Object.assign(new FakeSocket(), { resume: () => calls.push('resume') });
      read(new W3cTransport(socket));
      expect(calls).toEqual(['resume']);
    });

    it('W3cTransport pauses again after its reader unsubscribes, and keeps new messages for the next reader', () => {
      const calls: string[] = [];
      const socket = Object.assign(new FakeSocket(), { pause: () => calls.push('pause'), resume: () => calls.push('resume') });
      const transport = new W3cTransport(socket);
      socket.emit('message', { data: 'a' });
      transport.messages$.subscribe().unsubscribe();
      calls.length = 0;
      socket.emit('message', { data: 'b' });
      expect(calls).toEqual(['pause']);
      expect(read(transport).messages).toEqual(['b']);
    });

    it('W3cTransport reads on after its own close, until the socket has closed', () => {
      const socket = new FakeSocket();
      const transport = new W3cTransport(socket);
      const seen = read(transport);
      transport.close(1000, '');
      socket.emit('message', { data: 'was under way' });
      socket.emit('close', { code: 1000, reason: '', wasClean: true }, 'CLOSED');
      socket.emit('message', { data: 'after the end' });
      expect(seen).toEqual({ messages: ['was under way'], completed: 1 });
    });
  });

  describe('sending', () => {
    it.each([
      ['CONNECTING', []],
      ['OPEN', ['é']],
      ['CLOSING', []],
      ['CLOSED', []],
    ] as const)('In state %s W3cTransport sends %j and counts its bytes', (state, sent) => {
      const socket = new FakeSocket(state);
      const transport = new W3cTransport(socket);
      transport.send('é');
      expect(socket.sent).toEqual(sent);
      expect(transport.sentBytes).toBe(2 * sent.length);
    });

    it('W3cTransport closes a socket whose send throws', () => {
      const socket = new FakeSocket();
      socket.send = () => {
        throw new Error('InvalidStateError');
      };
      const transport = new W3cTransport(socket);
      const seen = read(transport);
      transport.send('x');
      expect(transport.closed).toEqual({ ...LOST, reason: 'Error: InvalidStateError' });
      expect([seen.completed, transport.sentBytes]).toEqual([1, 0]);
      expect(socket.closes).toHaveLength(1);
    });

    it('W3cTransport treats a socket without `bufferedAmount` (React Native, happy-dom) as empty', async () => {
      const socket = new FakeSocket();
      Object.assign(socket, { bufferedAmount: undefined });
      const peer = new Peer(socket, { isDialer: true, keepalive: false });
      void peer.serve();
      // Less than the window of bulk: the fake answers no ping.
      peer.notify('x'.repeat(1_000_000));
      await until(
        'the last slice',
        () => socket.sent.some((sent) => typeof sent === 'string' && sent.includes('"open"') && !sent.includes('"more":true')),
        1_000,
      );
      expect(peer.bufferedAmount).toBe(0);
      void peer.close();
    });

    it('Peer rejects its calls with CONNECTION_LOST when the socket throws', async () => {
      const socket = new FakeSocket();
      socket.send = () => {
        throw new Error('InvalidStateError');
      };
      const peer = new Peer(socket, { isDialer: true });
      void peer.serve();
      await expect(peer.request('x')).rejects.toMatchObject({ code: 'CONNECTION_LOST', reason: { code: 1006 } });
      expect(await peer.closed).toMatchObject({ code: 1006, reason: 'Error: InvalidStateError' });
    });
  });

  describe('closing', () => {
    it.each([
      [1000, 1000],
      [1001, 4001],
      [1002, 4002],
      [1003, 4003],
      [1008, 4008],
      [1009, 4009],
      [1011, 4011],
      [1012, 4012],
      [3000, 3000],
      [4321, 4321],
    ])('W3cTransport closes with %i as %i, a code that browsers allow', (code, sent) => {
      const socket = new FakeSocket();
      new W3cTransport(socket).close(code, 'why');
      expect(socket.closes).toEqual([[sent, 'why']]);
    });

    it.each([1001, 1002, 1008, 4321])(
      'W3cTransport closes with %i unchanged over a socket with `terminate`, which no browser has',
      (code) => {
        const socket = Object.assign(new FakeSocket(), { terminate: () => undefined });
        new W3cTransport(socket).close(code, 'why');
        expect(socket.closes).toEqual([[code, 'why']]);
      },
    );

    it.each([
      ['a code point across the limit', '😀'.repeat(50), '😀'.repeat(30)],
      ['one byte too long', 'x'.repeat(124), 'x'.repeat(123)],
      ['exactly as long', 'x'.repeat(123), 'x'.repeat(123)],
    ])('W3cTransport cuts a close reason at a code point to at most 123 bytes: %s', (_what, reason, sent) => {
      const socket = new FakeSocket();
      new W3cTransport(socket).close(1000, reason);
      expect(socket.closes).toEqual([[1000, sent]]);
    });

    it('W3cTransport terminates a socket whose close throws', () => {
      const socket = new FakeSocket();
      const terminate = jest.fn();
      Object.assign(socket, {
        terminate,
        close: () => {
          throw new Error('SyntaxError');
        },
      });
      const transport = new W3cTransport(socket);
      transport.close(1000, '');
      expect(terminate).toHaveBeenCalledTimes(1);
      expect(transport.closed).toEqual(LOST);
    });

    it.each<readonly [what: string, act: (transport: W3cTransport) => void]>([
      ['closing', (t) => t.close(1000, '')],
      ['terminating', (t) => t.terminate()],
    ])('W3cTransport ends without throwing when %s a socket that refuses both', (_what, act) => {
      const socket = new FakeSocket();
      const close = jest.spyOn(socket, 'close').mockImplementation(() => {
        throw new TypeError('not accepted');
      });
      const transport = new W3cTransport(socket);
      const seen = read(transport);
      act(transport);
      expect(transport.closed).toEqual(LOST);
      expect(seen.completed).toBe(1);
      expect(close).toHaveBeenLastCalledWith();
    });

    it.each(['CONNECTING', 'OPEN', 'CLOSING'] as const)(
      'W3cTransport ends at once when terminated in state %s, through `terminate` or else `close`',
      (state) => {
        const plain = new FakeSocket(state);
        const transport = new W3cTransport(plain);
        const seen = [opened(transport), read(transport)];
        transport.terminate('no sign of life');
        expect(transport.closed).toEqual({ ...LOST, reason: 'no sign of life' });
        expect(seen.map(({ completed }) => completed)).toEqual([1, 1]);
        expect(plain.closes).toEqual([[undefined, undefined]]);
        expect(plain.listening).toEqual({ error: 1 });

        const terminate = jest.fn();
        const able = Object.assign(new FakeSocket(state), { terminate });
        new W3cTransport(able).terminate();
        expect(terminate).toHaveBeenCalledTimes(1);
        expect(able.closes).toEqual([]);
      },
    );
  });

  describe('whenBelow', () => {
    let time: VirtualTime;

    beforeEach(() => {
      time = virtualTime();
    });

    afterEach(() => {
      time.restore();
    });

    it('W3cTransport samples `bufferedAmount` at growing pauses of at most 16 ms, and runs its task once', async () => {
      const socket = new FakeSocket();
      const transport = new W3cTransport(socket);
      const looks: number[] = [];
      let held = 100;
      Object.defineProperty(socket, 'bufferedAmount', { get: () => (looks.push(time.now), held) });
      const task = jest.fn();
      transport.whenBelow(10, task);
      await time.advance(80);
      expect(looks).toEqual([1, 3, 7, 15, 31, 47, 63, 79]);
      expect(task).not.toHaveBeenCalled();
      held = 10;
      await time.advance(1_000);
      expect(task).toHaveBeenCalledTimes(1);
      expect(looks).toHaveLength(9);
    });

    it('W3cTransport runs its task in a later turn, even when the socket has room already', async () => {
      const task = jest.fn();
      new W3cTransport(new FakeSocket()).whenBelow(10, task);
      expect(task).not.toHaveBeenCalled();
      await time.advance(1);
      expect(task).toHaveBeenCalledTimes(1);
    });

    it('W3cTransport drops a waiting task when a second one replaces it', async () => {
      const transport = new W3cTransport(new FakeSocket());
      const [first, second] = [jest.fn(), jest.fn()];
      transport.whenBelow(10, first);
      transport.whenBelow(20, second);
      await time.advance(100);
      expect([first, second].map(({ mock }) => mock.calls.length)).toEqual([0, 1]);
    });

    it('W3cTransport never runs its task on a closing socket', async () => {
      const socket = new FakeSocket('CLOSING');
      const transport = new W3cTransport(socket);
      const task = jest.fn();
      transport.whenBelow(10, task);
      await time.advance(1_000);
      expect([task.mock.calls.length, transport.writable]).toEqual([0, false]);
    });

    it('W3cTransport stops sampling after the end', async () => {
      const socket = new FakeSocket();
      socket.bufferedAmount = 100;
      const transport = new W3cTransport(socket);
      const task = jest.fn();
      transport.whenBelow(10, task);
      transport.terminate();
      const looks = jest.fn(() => ReadyState.OPEN);
      Object.defineProperty(socket, 'readyState', { get: looks });
      socket.bufferedAmount = 0;
      await time.advance(100);
      expect([task.mock.calls, looks.mock.calls]).toEqual([[], []]);
    });
  });

  it('W3cTransport runs turns after microtasks, so that reads and timers get their share', async () => {
    const order: string[] = [];
    const transport = new W3cTransport(new FakeSocket());
    const done = new Promise<void>((resolve) => {
      transport.turn(() => {
        order.push('turn');
        resolve();
      });
    });
    await Promise.resolve().then(() => order.push('microtask'));
    await done;
    expect(order).toEqual(['microtask', 'turn']);
  });

  it('W3cTransport uses the `turn` of a socket that has one', () => {
    const turns: unknown[] = [];
    const socket = Object.assign(new FakeSocket(), { turn: (task: () => void) => turns.push(task) });
    const task = jest.fn();
    new W3cTransport(socket).turn(task);
    expect(turns).toEqual([task]);
    expect(task).not.toHaveBeenCalled();
  });
});
