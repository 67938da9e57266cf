import { describe, expect, it } from '@jest/globals';
import { MemoryLink } from '../../src/testing/memory-link.js';
import { MemorySocket } from '../../src/testing/memory-socket.js';
import type { SocketEvent } from '../../src/transport/transport.js';
import { virtualPeerTime } from '../support/peer/time.js';

const PROTOCOL = 'mux.v1.json';
const LOST = { type: 'close', code: 1006, reason: '', wasClean: false };

const time = virtualPeerTime();

describe('a socket in memory', () => {
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
