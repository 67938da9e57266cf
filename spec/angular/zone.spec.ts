import '../support/platform/zone.js';
import { expect, it } from '@jest/globals';
import {
  createEnvironmentInjector,
  EnvironmentInjector,
  inject,
  Injector,
  NgZone,
  provideZoneChangeDetection,
  runInInjectionContext,
} from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { NEVER } from 'rxjs';
import { injectCall, injectPeer, muxResource, provideMux } from '../../src/angular.js';
import { shared } from '../../src/contract.js';
import type { Peer } from '../../src/index.js';
import { createServer } from '../../src/testing.js';
import { until } from '../support/socket/leaks.js';
import { application, ON_SERVER } from './application.js';

it('With zone.js a connected peer with keepalive and a resource leave the zone stable', async () => {
  const server = createServer({ onStream: (_, stream) => stream.send('now').then(() => stream.closed) });
  const inZone: boolean[] = [];
  const [peer, resource] = application(
    [provideZoneChangeDetection(), provideMux('ws://test', { socket: server.socket })],
    () =>
      [
        injectPeer(),
        muxResource({
          stream: (call) => {
            inZone.push(NgZone.isInAngularZone());
            return call.peer.open$<string>('price');
          },
        }),
      ] as const,
  );
  const zone = TestBed.inject(NgZone);
  zone.run(() => {
    TestBed.tick();
  });
  await until('a value', () => resource.value() === 'now');
  expect([peer.status.state, inZone, zone.hasPendingMacrotasks]).toEqual(['open', [false], false]);
  TestBed.resetTestingModule();
  await peer.closed;
});

it('With zone.js the end of a resource that shares its stream leaves the zone stable', async () => {
  const server = createServer({ onStream: (_, stream) => stream.send('now').then(() => stream.closed) });
  const [peer, own, resource] = application([provideZoneChangeDetection(), provideMux('ws://test', { socket: server.socket })], () => {
    const injector = createEnvironmentInjector([], inject(EnvironmentInjector));
    const stream = (call: { readonly peer: Peer }) => call.peer.open$<string>('price');
    return [injectPeer(), injector, muxResource({ stream, shared: true, injector: injector.get(Injector) })] as const;
  });
  const zone = TestBed.inject(NgZone);
  zone.run(() => {
    TestBed.tick();
  });
  await until('a value', () => resource.value() === 'now');
  zone.run(() => {
    own.destroy();
  });
  expect(zone.hasPendingMacrotasks).toBe(false);
  TestBed.resetTestingModule();
  await peer.closed;
});

it.each(['abort', 'destroy'] as const)('With zone.js the `%s` that ends a call of a shared function leaves the zone stable', (end) => {
  const [own, { call, abort }] = application([provideZoneChangeDetection()], () => {
    const injector = createEnvironmentInjector([], inject(EnvironmentInjector));
    const open = shared(() => NEVER);
    return [injector, runInInjectionContext(injector.get(Injector), () => injectCall(open, { abortOnLeave: true }))] as const;
  });
  const zone = TestBed.inject(NgZone);
  zone.run(() => {
    void call();
    if (end === 'abort') abort();
    else own.destroy();
  });
  expect(zone.hasPendingMacrotasks).toBe(false);
  TestBed.resetTestingModule();
});

it('Loaded for a spec, zone.js patches nothing of the EventTarget that all files share', () => {
  const patches = Reflect.ownKeys(EventTarget.prototype).filter((key) => String(key).startsWith('__zone_symbol__'));
  expect(patches).toEqual([]);
});

it('With zone.js a call on a server that renders leaves the zone stable', async () => {
  const peer = application([provideZoneChangeDetection(), provideMux('/mux'), ON_SERVER], injectPeer);
  const zone = TestBed.inject(NgZone);
  const outcome = zone.run(() => peer.request('hi').catch(() => 'failed'));
  await Promise.resolve();
  expect(zone.hasPendingMacrotasks).toBe(false);
  TestBed.resetTestingModule();
  expect(await outcome).toBe('failed');
});
