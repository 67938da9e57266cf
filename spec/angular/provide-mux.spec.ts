import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InjectionToken, inject, provideZonelessChangeDetection } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { injectPeer, injectStatus, provideMux } from '../../src/angular.js';
import { logger } from '../../src/index.js';
import type { ConnectOptions } from '../../src/index.js';
import { createServer, virtualTime } from '../../src/testing.js';
import type { TestServer, VirtualTime } from '../../src/testing.js';
import { application, ON_SERVER } from './application.js';

const TOKEN = new InjectionToken<string>('token');

let time: VirtualTime;

beforeEach(() => {
  time = virtualTime();
});

afterEach(() => {
  TestBed.resetTestingModule();
  jest.restoreAllMocks();
  time.restore();
});

const echo = (): TestServer => createServer({ onStream: (payload, stream) => stream.reply(payload) });
const options = ({ socket }: TestServer): ConnectOptions => ({ socket, keepalive: false });

describe('provideMux', () => {
  it('An application dials at the first injection, and has one peer', async () => {
    let dials = 0;
    const server = echo();
    server.peers$.subscribe(() => dials++);
    application([provideZonelessChangeDetection(), provideMux('ws://test', options(server))], () => undefined);
    await time.advance();
    expect(dials).toBe(0);
    const [one, other] = TestBed.runInInjectionContext(() => [injectPeer(), injectPeer()] as const);
    const answer = one.request('hi');
    await time.advance();
    expect([await answer, dials, one === other]).toEqual(['hi', 1, true]);
  });

  it('An application closes its peer when it is destroyed', async () => {
    const peer = application([provideZonelessChangeDetection(), provideMux('ws://test', options(echo()))], injectPeer);
    await time.advance();
    TestBed.resetTestingModule();
    await time.advance();
    expect(await peer.closed).toMatchObject({ code: 1000, willRetry: false });
  });

  it('An application dials again for as long as no server answers', async () => {
    jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    const server = echo();
    server.refuse(0);
    const status = application([provideZonelessChangeDetection(), provideMux('ws://test', options(server))], injectStatus);
    await time.advance(3_600_000);
    expect(['connecting', 'waiting']).toContain(status().state);
    server.refuse(null);
    await time.advance(10_000);
    expect(status().state).toBe('open');
  });

  it('An application takes options from a function that injects', async () => {
    const hellos: unknown[] = [];
    const server = createServer({
      onStream: (payload, stream) => {
        hellos.push(payload);
        return stream.reply(null);
      },
    });
    const providers = [
      { provide: TOKEN, useValue: 'secret' },
      provideMux('ws://test', () => {
        const payload = inject(TOKEN);
        return { ...options(server), hello: () => ({ payload }) };
      }),
    ];
    application([provideZonelessChangeDetection(), ...providers], injectPeer);
    await time.advance();
    expect(hellos).toEqual(['secret']);
  });

  it('An application on a server dials nothing: calls wait, and the status stays connecting', async () => {
    let dials = 0;
    const socket = (): never => {
      dials++;
      throw new Error('dialed');
    };
    const providers = [provideZonelessChangeDetection(), provideMux('/mux', { socket }), ON_SERVER];
    const [peer, status] = application(providers, () => [injectPeer(), injectStatus()] as const);
    const outcome = peer.request('hi').then(
      () => 'answered',
      () => 'failed',
    );
    await time.advance(3_600_000);
    expect([dials, status().state, await Promise.race([outcome, Promise.resolve('waits')])]).toEqual([0, 'connecting', 'waits']);
    TestBed.resetTestingModule();
    await time.advance();
    expect(await outcome).toBe('failed');
  });
});

describe('injectStatus', () => {
  it('A status follows the connection', async () => {
    const server = echo();
    const status = application([provideZonelessChangeDetection(), provideMux('ws://test', options(server))], injectStatus);
    expect(status()).toEqual({ state: 'connecting', attempt: 1, last: null });
    await time.advance();
    expect(status()).toEqual({ state: 'open', reconnects: 0 });
    server.link?.cut();
    await time.advance();
    expect(status().state).toBe('waiting');
    await time.advance(10_000);
    expect(status()).toEqual({ state: 'open', reconnects: 1 });
  });
});
