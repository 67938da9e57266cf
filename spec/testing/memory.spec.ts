import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ABSENT, fromMapping, ResetCode, toMapping, V1_FRAME_TYPES } from '../../src/index.js';
import { frameMarbles, virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { MemoryLink } from '../../src/testing/memory-link.js';
import type { Fault, MemoryLinkOptions, Side } from '../../src/testing/memory-link.js';
import { MemorySocket } from '../../src/testing/memory-socket.js';
import type { MemoryTransport } from '../../src/testing/memory-transport.js';
import type { SocketEvent } from '../../src/transport/transport.js';
import { virtualPeerTime } from '../support/peer/time.js';

const PROTOCOL = 'mux.v1.json';

/** Records everything that an end sees, each with its time. */
function read(transport: MemoryTransport, time: VirtualTime) {
  const seen: unknown[] = [];
  transport.messages$.subscribe({
    next: (message) => seen.push([time.now, message]),
    complete: () => seen.push([time.now, transport.closed]),
  });
  return seen;
}

describe('a link in memory', () => {
  let time: VirtualTime;

  beforeEach(() => {
    time = virtualTime();
  });

  afterEach(() => {
    time.restore();
  });

  const joined = (options: Omit<MemoryLinkOptions, 'protocol'> = {}) => {
    const link = new MemoryLink({ protocol: PROTOCOL, ...options });
    return { link, ...link.ends };
  };

  it('Both ends of a link are open from the first', () => {
    const { dialer, acceptor } = joined();
    const opened = jest.fn();
    dialer.opened$.subscribe({ complete: opened });
    expect(opened).toHaveBeenCalledTimes(1);
    expect([dialer.protocol, acceptor.closed, dialer.refusedStatus, dialer.opaque]).toEqual([PROTOCOL, null, null, false]);
  });

  it('A link delivers in order, and never on the stack of the sender', async () => {
    const { dialer, acceptor } = joined();
    const seen = read(acceptor, time);
    dialer.send('a');
    dialer.send(new ArrayBuffer(1));
    expect(seen).toEqual([]);
    await time.advance();
    expect(seen).toEqual([
      [0, 'a'],
      [0, new ArrayBuffer(1)],
    ]);
  });

  it('A link keeps messages until its end has a reader', async () => {
    const { dialer, acceptor } = joined();
    dialer.send('a');
    await time.advance(5);
    const seen = read(acceptor, time);
    dialer.send('b');
    await time.advance();
    expect(seen).toEqual([
      [5, 'a'],
      [5, 'b'],
    ]);
  });

  it('Each message travels for its latency, and none overtakes another', async () => {
    const fates: (Fault | undefined)[] = [{ delayMs: 20 }, undefined, undefined];
    const { dialer, acceptor } = joined({ latencyMs: 10, fate: ({ nth }) => fates[nth - 1] });
    const seen = read(acceptor, time);
    dialer.send('slow');
    dialer.send('behind it');
    await time.advance(50);
    dialer.send('later');
    await time.advance(50);
    expect(seen).toEqual([
      [30, 'slow'],
      [30, 'behind it'],
      [60, 'later'],
    ]);
  });

  it.each<readonly [what: string, fate: Fault | undefined, arrived: readonly string[]]>([
    ['delivers', undefined, ['x', 'y']],
    ['drops', 'drop', ['y']],
    ['duplicates', 'duplicate', ['x', 'x', 'y']],
    ['replaces', { replace: 'z' }, ['z', 'y']],
  ])('%s a message as its fate says', async (_what, fate, arrived) => {
    const { dialer, acceptor } = joined({ latencyMs: 10, fate: ({ nth }) => (nth === 1 ? fate : undefined) });
    const seen = read(acceptor, time);
    dialer.send('x');
    dialer.send('y');
    await time.advance(10);
    expect(seen).toEqual(arrived.map((message) => [10, message]));
  });

  it('A link carries nothing after a message whose fate is a cut, also within its turn', async () => {
    const { link, dialer, acceptor } = joined({ fate: ({ message }) => (message === 'x' ? 'cut' : undefined) });
    const carried: unknown[] = [];
    link.carried$.subscribe(({ message }) => carried.push(message));
    const seen = read(acceptor, time);
    for (const message of ['w', 'x', 'y']) dialer.send(message);
    acceptor.send('z');
    await time.advance();
    expect(carried).toEqual(['w', 'x']);
    expect(seen.at(-1)).toEqual([0, { code: 1006, reason: '', wasClean: false }]);
    expect(seen).not.toContainEqual([0, 'y']);
  });

  it('A link counts the bytes that it takes', () => {
    const { dialer } = joined();
    dialer.send('é');
    expect([dialer.sentBytes, dialer.holds(2), dialer.holds(3)]).toEqual([2, true, false]);
    dialer.send(new ArrayBuffer(3));
    dialer.close(1000, '');
    dialer.send('x');
    expect(dialer.sentBytes).toBe(5);
  });

  it('A link shows each message with its direction and number, and completes after the end', async () => {
    const { link, dialer, acceptor } = joined();
    const seen: unknown[] = [];
    link.carried$.subscribe({ next: (carried) => seen.push(carried), complete: () => seen.push('complete') });
    read(dialer, time);
    read(acceptor, time);
    dialer.send('a');
    acceptor.send('b');
    dialer.send('c');
    dialer.close(1000, '');
    dialer.send('too late');
    await time.advance();
    dialer.send('far too late');
    expect(seen).toEqual([
      { from: 'dialer', message: 'a', nth: 1 },
      { from: 'acceptor', message: 'b', nth: 1 },
      { from: 'dialer', message: 'c', nth: 2 },
      'complete',
    ]);
  });

  it('A link shows the messages of an end until that end hears of the loss of the other', async () => {
    const { link, dialer, acceptor } = joined({ latencyMs: 10 });
    const seen: unknown[] = [];
    link.carried$.subscribe({ next: ({ message }) => seen.push(message), complete: () => seen.push('complete') });
    read(acceptor, time);
    dialer.terminate();
    await time.advance(5);
    acceptor.send('unheard');
    await time.advance(5);
    expect(seen).toEqual(['unheard', 'complete']);
  });

  describe('that ends', () => {
    it.each<Side>(['dialer', 'acceptor'])('A link shakes hands when the %s closes, after all that was sent before', async (side) => {
      const { link } = joined({ latencyMs: 10 });
      const [own, other] = [link.ends[side], link.other(side)];
      const [seenHere, seenThere] = [read(own, time), read(other, time)];
      own.send('last words');
      own.close(4000, 'bye');
      own.close(4001, 'again');
      other.send('was under way');
      await time.advance(100);
      const close = { code: 4000, reason: 'bye', wasClean: true };
      expect(seenThere).toEqual([
        [10, 'last words'],
        [10, close],
      ]);
      expect(seenHere).toEqual([
        [10, 'was under way'],
        [20, close],
      ]);
    });

    it('A link shakes hands at the pace of its messages, also without any', async () => {
      const { dialer, acceptor } = joined({ latencyMs: 10 });
      const [here, there] = [read(dialer, time), read(acceptor, time)];
      dialer.close(4000, 'bye');
      await time.advance(100);
      const close = { code: 4000, reason: 'bye', wasClean: true };
      expect([here, there]).toEqual([[[20, close]], [[10, close]]]);
    });

    it('A terminated link is lost at once for the end that terminates, and a journey later for the other', async () => {
      const { dialer, acceptor } = joined({ latencyMs: 10 });
      const [here, there] = [read(dialer, time), read(acceptor, time)];
      dialer.terminate('no sign of life');
      await time.advance(100);
      expect(here).toEqual([[0, { code: 1006, reason: 'no sign of life', wasClean: false }]]);
      expect(there).toEqual([[10, { code: 1006, reason: '', wasClean: false }]]);
    });

    it('A cut link is lost for both ends, with all that is under way', async () => {
      const { link, dialer, acceptor } = joined({ latencyMs: 10 });
      const [here, there] = [read(dialer, time), read(acceptor, time)];
      dialer.send('never');
      link.cut({ reason: 'storm' });
      await time.advance(100);
      const lost = { code: 1006, reason: 'storm', wasClean: false };
      expect([here, there]).toEqual([[[0, lost]], [[0, lost]]]);
    });

    it('A link that has ended completes for a late reader', async () => {
      const { link, dialer } = joined();
      link.cut();
      expect(read(dialer, time)).toEqual([[0, { code: 1006, reason: '', wasClean: false }]]);
      await time.advance();
    });
  });

  describe.each<readonly [how: string, stop: (end: MemoryTransport) => void, go: (end: MemoryTransport) => void]>([
    ['paused', (end) => end.pause(), (end) => end.resume()],
    ['stalled', (end) => end.stall(), (end) => end.unstall()],
  ])('whose reader is %s', (_how, stop, go) => {
    it('A link whose reader stands still holds messages, shows that to the sender, and delivers them later', async () => {
      const { dialer, acceptor } = joined();
      const seen = read(acceptor, time);
      const room = jest.fn();
      stop(acceptor);
      dialer.send('x'.repeat(100));
      dialer.send('y'.repeat(50));
      await time.advance(5);
      expect(dialer.bufferedAmount).toBe(150);
      dialer.whenBelow(50, room);
      await time.advance(5);
      expect([seen, room.mock.calls.length]).toEqual([[], 0]);
      go(acceptor);
      await time.advance();
      expect(seen).toHaveLength(2);
      expect(room).toHaveBeenCalledTimes(1);
      expect(dialer.bufferedAmount).toBe(0);
    });

    it('A link whose reader stands still holds nothing after a cut', async () => {
      const { link, dialer, acceptor } = joined();
      read(acceptor, time);
      stop(acceptor);
      dialer.send('x'.repeat(100));
      await time.advance();
      link.cut();
      expect(dialer.bufferedAmount).toBe(0);
    });

    it('A reader that stands still sees the close once it reads on', async () => {
      const { dialer, acceptor } = joined();
      const seen = read(acceptor, time);
      stop(acceptor);
      dialer.close(1000, '');
      await time.advance(100);
      expect(seen).toEqual([]);
      go(acceptor);
      await time.advance();
      expect(seen).toEqual([[100, { code: 1000, reason: '', wasClean: true }]]);
    });
  });

  it.each<readonly [first: 'unstall' | 'resume', second: 'unstall' | 'resume']>([
    ['unstall', 'resume'],
    ['resume', 'unstall'],
  ])('A reader that is paused and stalled goes on when both are over: %s, then %s', async (first, second) => {
    const { dialer, acceptor } = joined();
    const seen = read(acceptor, time);
    acceptor.pause();
    acceptor.stall();
    dialer.send('x');
    await time.advance();
    acceptor[first]();
    await time.advance();
    expect(seen).toEqual([]);
    acceptor[second]();
    await time.advance();
    expect(seen).toEqual([[0, 'x']]);
  });

  it('A link holds the messages of one turn until the next, so a sender that never waits is held up', async () => {
    const { dialer, acceptor } = joined();
    read(acceptor, time);
    dialer.send('x'.repeat(1_000));
    expect(dialer.bufferedAmount).toBe(1_000);
    const room = jest.fn();
    dialer.whenBelow(100, room);
    expect(room).not.toHaveBeenCalled();
    await time.advance();
    expect(dialer.bufferedAmount).toBe(0);
    expect(room).toHaveBeenCalledTimes(1);
  });

  it('An empty link has room, and says so in a later turn', async () => {
    const { dialer } = joined();
    const room = jest.fn();
    dialer.whenBelow(0, room);
    expect(room).not.toHaveBeenCalled();
    await time.advance();
    expect(room).toHaveBeenCalledTimes(1);
  });

  it('A link has no room at an end that is closing', async () => {
    const { dialer, acceptor } = joined();
    read(acceptor, time);
    const room = jest.fn();
    dialer.close(1000, '');
    dialer.whenBelow(1_000, room);
    await time.advance(100);
    expect([room.mock.calls.length, dialer.writable]).toEqual([0, false]);
  });
});

describe('a socket in memory', () => {
  const PROTOCOL = 'mux.v1.json';
  const LOST = { type: 'close', code: 1006, reason: '', wasClean: false };

  const time = virtualPeerTime();

  /** A socket, its other end, what was carried between them, and its events. */
  const dialed = (refusal: number | null = null) => {
    const link = new MemoryLink({ protocol: PROTOCOL });
    const socket = new MemorySocket(link.ends.dialer, refusal);
    const events: SocketEvent[] = [];
    for (const type of ['open', 'message', 'error', 'close'] as const) socket.addEventListener(type, (event) => events.push(event));
    const carried: unknown[] = [];
    link.carried$.subscribe(({ message }) => carried.push(message));
    return { socket, events, carried, other: link.ends.acceptor };
  };

  it('A socket opens a turn later, and has its subprotocol from then on', async () => {
    const { socket, events } = dialed();
    expect([socket.readyState, socket.protocol, events]).toEqual([0, '', []]);
    await time.advance();
    expect([socket.readyState, socket.protocol, events]).toEqual([1, PROTOCOL, [{ type: 'open' }]]);
  });

  it.each([
    [503, 503],
    [0, null],
  ])('A socket that is refused with %i fails a turn later, and then has the status %p', async (refusal, status) => {
    const { socket, events } = dialed(refusal);
    expect([socket.readyState, socket.refusedStatus]).toEqual([0, null]);
    await time.advance();
    expect([socket.readyState, socket.refusedStatus]).toEqual([3, status]);
    expect(events).toEqual([{ type: 'error' }, LOST]);
  });

  it('A socket whose line is cut in its open event is closing at once, and then closed', async () => {
    const link = new MemoryLink({ protocol: PROTOCOL });
    const socket = new MemorySocket(link.ends.dialer, null);
    const states: number[] = [];
    socket.addEventListener('open', () => {
      link.cut();
      states.push(socket.readyState);
    });
    socket.addEventListener('close', () => states.push(socket.readyState));
    await time.advance();
    expect(states).toEqual([2, 3]);
  });

  it('A socket sends while it is open, and neither before nor after that', async () => {
    const { socket, carried, other } = dialed();
    other.messages$.subscribe();
    socket.send('too early');
    await time.advance();
    socket.send('x');
    socket.close();
    socket.send('closing');
    await time.advance();
    socket.send('closed');
    expect(carried).toEqual(['x']);
  });

  it('A socket closes with its handshake, without an error, and takes no second close', async () => {
    const { socket, events, other } = dialed();
    other.messages$.subscribe();
    await time.advance();
    events.length = 0;
    socket.close(4000, 'bye');
    socket.close(4001, 'again');
    expect([socket.readyState, events]).toEqual([2, []]);
    await time.advance();
    const end = { code: 4000, reason: 'bye', wasClean: true };
    expect([socket.readyState, events, other.closed]).toEqual([3, [{ type: 'close', ...end }], end]);
  });

  it.each<readonly [when: string, end: (socket: MemorySocket) => void, opens: boolean]>([
    ['that is closed before it is open', (socket) => socket.close(), false],
    ['that is terminated before it is open', (socket) => socket.terminate(), false],
    ['that is terminated', (socket) => socket.terminate(), true],
  ])('%s fails at once, once, and its other end is lost', async (_when, end, opens) => {
    const { socket, events, other } = dialed();
    other.messages$.subscribe();
    if (opens) await time.advance();
    events.length = 0;
    end(socket);
    socket.terminate();
    expect([socket.readyState, events]).toEqual([3, [{ type: 'error' }, LOST]]);
    await time.advance();
    expect(events).toHaveLength(2);
    expect(other.closed).toEqual({ code: 1006, reason: '', wasClean: false });
  });

  it('A socket dispatches an event to those who listened when it happened', async () => {
    const { socket, events, other } = dialed();
    await time.advance();
    const late: unknown[] = [];
    const listening = (event: SocketEvent): void => void late.push(event.data);
    socket.addEventListener('message', () => {
      socket.addEventListener('message', listening);
    });
    other.send('a');
    await time.advance();
    expect(late).toEqual([]);
    other.send('b');
    await time.advance();
    socket.removeEventListener('message', listening);
    expect(late).toEqual(['b']);
    expect(events.filter(({ type }) => type === 'message')).toEqual(['a', 'b'].map((data) => ({ type: 'message', data })));
  });
});

describe('frameMarbles', () => {
  it('`frameMarbles` returns the letters of one stream', () => {
    expect(frameMarbles(7)).toEqual({
      o: { type: 'open', stream: 7 },
      d: { type: 'data', stream: 7, payload: 'd' },
      e: { type: 'data', stream: 7, end: true },
      r: { type: 'reset', stream: 7, code: ResetCode.CANCEL },
      p: { type: 'ping', nonce: 'n' },
      q: { type: 'pong', nonce: 'n' },
      g: { type: 'goaway', code: ResetCode.NO_ERROR, last_stream: 0 },
    });
  });

  it('`frameMarbles` returns letters of stream 1 by default', () => {
    expect(frameMarbles()).toEqual(frameMarbles(1));
  });

  it.each(Object.entries(frameMarbles()))('`frameMarbles` returns a frame of the wire for %s', (_, frame) => {
    expect(V1_FRAME_TYPES.has(frame.type)).toBe(true);
    expect(toMapping(fromMapping(toMapping(frame)))).toEqual(toMapping(frame));
  });

  it("`frameMarbles` adds the caller's letters, which are data of the stream by default", () => {
    const frames = frameMarbles(3, {
      x: { payload: 42 },
      n: { type: 'open', payload: null },
      s: { stream: 5, payload: ABSENT, end: true },
      c: { type: 'ping', stream: null },
    });
    expect(frames).toMatchObject({
      o: { type: 'open', stream: 3 },
      x: { type: 'data', stream: 3, payload: 42 },
      n: { type: 'open', stream: 3, payload: null },
      s: { type: 'data', stream: 5, payload: ABSENT, end: true },
      c: { type: 'ping', stream: null },
    });
  });

  it('A letter of the caller replaces a letter of `frameMarbles`', () => {
    expect(frameMarbles(1, { d: { payload: 'mine' } }).d).toEqual({ type: 'data', stream: 1, payload: 'mine' });
  });
});
