import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, take, toArray } from 'rxjs';
import { Peer } from '../../../src/index.js';
import type { SocketEvent, SocketLike, Stream } from '../../../src/index.js';
import { collectLogs } from '../../support/peer/logs.js';

const logs = collectLogs();

/** A socket that a test plays. */
class PlayedSocket implements SocketLike {
  readonly readyState = 1;
  readonly protocol = 'mux.v1.json';
  readonly bufferedAmount = 0;
  binaryType: BinaryType = 'arraybuffer';
  readonly sent: string[] = [];
  readonly #listeners = new Map<string, (event: SocketEvent) => void>();

  send(data: string | ArrayBuffer): void {
    this.sent.push(String(data));
  }

  receive(data: string): void {
    this.#listeners.get('message')?.({ type: 'message', data });
  }

  close(): void {
    // The test ends with it.
  }

  addEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#listeners.set(type, listener);
  }

  removeEventListener(type: string): void {
    this.#listeners.delete(type);
  }
}

/** A call whose stream gets these answers as soon as it is there, before the call has returned. */
function answered(...answers: string[]) {
  const socket = new PlayedSocket();
  const peer = new Peer(socket, { isDialer: true, keepalive: false, requestTimeoutMs: 0 });
  void peer.serve();
  const onOpen = ({ id }: Stream): void => {
    for (const answer of answers) socket.receive(`{"type":"data","stream":${String(id)},${answer}}`);
  };
  return { peer, socket, onOpen };
}

describe('an answer that comes before the call has returned', () => {
  it('is the answer of a request', async () => {
    const { peer, onOpen } = answered('"end":true,"payload":"at once"');
    expect(await peer.request('ask', { onOpen })).toBe('at once');
    expect(await lastValueFrom(peer.request$('ask', { onOpen }))).toBe('at once');
  });

  it('is given to whoever subscribes, and then the end', async () => {
    const { peer, onOpen } = answered('"payload":1', '"payload":2', '"end":true');
    expect(await lastValueFrom(peer.open$('ask', { onOpen }).pipe(toArray()))).toEqual([1, 2]);
  });

  it('is given to an observer without an operator before it', () => {
    const { peer, socket, onOpen } = answered('"payload":1', '"payload":2', '"end":true');
    const told: unknown[] = [];
    const subscription = peer.open$('ask', { onOpen }).subscribe({
      next: (value) => told.push(value),
      complete: () => told.push('complete'),
    });
    expect(told).toEqual([1, 2, 'complete']);
    expect(subscription.closed).toBe(true);
    expect(socket.sent).toHaveLength(1);
  });

  it('is followed by whatever comes later, up to the end', () => {
    const { peer, socket, onOpen } = answered('"payload":1');
    const told: unknown[] = [];
    peer.open$('ask', { onOpen }).subscribe({
      next: (value) => told.push(value),
      complete: () => told.push('complete'),
    });
    socket.receive('{"type":"data","stream":1,"payload":2,"end":true}');
    expect([told, logs.errors]).toEqual([[1, 2, 'complete'], []]);
  });

  it('is read no further than the subscriber wants, and the stream is cancelled', async () => {
    const { peer, socket, onOpen } = answered('"payload":1', '"payload":2');
    expect(await lastValueFrom(peer.open$('ask', { onOpen }).pipe(take(1), toArray()))).toEqual([1]);
    expect(socket.sent.at(-1)).toContain('"type":"reset"');
  });
});
