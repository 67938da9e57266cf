import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, take, toArray } from 'rxjs';
import { Peer } from '../../../src/index.js';
import type { SocketEvent, SocketLike, Stream } from '../../../src/index.js';
import { collectLogs } from '../../support/peer/logs.js';

const logs = collectLogs();

/** A socket whose messages come from the test. */
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
    // The test does not close the socket.
  }

  addEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#listeners.set(type, listener);
  }

  removeEventListener(type: string): void {
    this.#listeners.delete(type);
  }
}

/** A call whose stream receives these answers as soon as it opens, before the call has returned. */
function answered(...answers: string[]) {
  const socket = new PlayedSocket();
  const peer = new Peer(socket, { isDialer: true, keepalive: false, requestTimeoutMs: 0 });
  void peer.serve();
  const onOpen = ({ id }: Stream): void => {
    for (const answer of answers) socket.receive(`{"type":"data","stream":${String(id)},${answer}}`);
  };
  return { peer, socket, onOpen };
}

describe('Answer that comes before the call has returned', () => {
  it('A request resolves with an answer that comes before the call has returned', async () => {
    const { peer, onOpen } = answered('"end":true,"payload":"at once"');
    expect(await peer.request('ask', { onOpen })).toBe('at once');
    expect(await lastValueFrom(peer.request$('ask', { onOpen }))).toBe('at once');
  });

  it('`open$` emits values and completes when the answer comes before the call has returned', async () => {
    const { peer, onOpen } = answered('"payload":1', '"payload":2', '"end":true');
    expect(await lastValueFrom(peer.open$('ask', { onOpen }).pipe(toArray()))).toEqual([1, 2]);
  });

  it('`open$` without an operator emits values and completes when the answer comes before the call has returned', () => {
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

  it('`open$` emits an answer that comes before the call has returned, and later values up to the end', () => {
    const { peer, socket, onOpen } = answered('"payload":1');
    const told: unknown[] = [];
    peer.open$('ask', { onOpen }).subscribe({
      next: (value) => told.push(value),
      complete: () => told.push('complete'),
    });
    socket.receive('{"type":"data","stream":1,"payload":2,"end":true}');
    expect([told, logs.errors]).toEqual([[1, 2, 'complete'], []]);
  });

  it('`open$` reads an early answer no further than the subscriber wants, and cancels the stream', async () => {
    const { peer, socket, onOpen } = answered('"payload":1', '"payload":2');
    expect(await lastValueFrom(peer.open$('ask', { onOpen }).pipe(take(1), toArray()))).toEqual([1]);
    expect(socket.sent.at(-1)).toContain('"type":"reset"');
  });
});
