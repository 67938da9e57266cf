import { describe, expect, it, jest } from '@jest/globals';
import { createElement, Suspense } from 'react';
import { renderToString } from 'react-dom/server';
import { NEVER, Observable, of } from 'rxjs';
import { connect } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { MuxProvider, useCall, useMux, useMuxStatus, useStream, useSuspenseStream } from '../../src/react.js';
import { within } from '../support/peer/rendered.js';
import { createPair } from '../support/peer/tracked.js';

const html = (component: () => string, peer?: Peer): string => renderToString(within(peer, createElement(component)));

describe('a page that a server renders', () => {
  it('`useStream` opens no stream, and renders `connecting`', () => {
    const subscribed = jest.fn<() => undefined>();
    const { dialer } = createPair();
    const page = html(() => useStream(() => new Observable(subscribed)).status, dialer);
    expect(page).toBe('connecting');
    expect(subscribed).not.toHaveBeenCalled();
  });

  it('`useStream` renders its initial value, which the page shows until its stream has one', () => {
    expect(html(() => JSON.stringify(useStream(() => NEVER, [], { initialValue: 5 })))).toBe(
      '{&quot;value&quot;:5,&quot;status&quot;:&quot;connecting&quot;}',
    );
  });

  it('`useCall` renders its initial value, and makes no call', () => {
    const page = html(() => {
      const { data, pending } = useCall(() => NEVER, { initialValue: 5 });
      return `${String(data)} ${pending}`;
    });
    expect(page).toBe('5 false');
  });

  it.each([
    ['the fallback', undefined, 'waiting'],
    ['its initial value', 5, '5'],
  ])('`useSuspenseStream` opens no stream, and renders %s', (_, initialValue, shows) => {
    const subscribed = jest.fn<() => undefined>();
    const open = (): Observable<number> => new Observable(subscribed);
    const Value = (): string => String(useSuspenseStream(open, [], { initialValue }).value);
    const page = renderToString(createElement(Suspense, { fallback: 'waiting' }, createElement(Value)));
    expect(page.replace(/<[^>]*>/g, '')).toBe(shows);
    expect(subscribed).not.toHaveBeenCalled();
  });

  it('A lazy peer dials nothing, and its status is `connecting`', async () => {
    const socket = jest.fn<() => never>();
    const peer = connect('ws://test', { lazy: true, socket });
    const page = html(() => {
      const mux = useMux();
      const { status } = useStream(() => mux.open$('price'));
      return `${status} ${useMuxStatus().state}`;
    }, peer);
    expect(page).toBe('connecting connecting');
    expect(socket).not.toHaveBeenCalled();
    await peer.close();
  });

  it('`useMuxStatus` renders `connecting` for a peer that is open, so that the page hydrates', () => {
    const { dialer } = createPair();
    expect(dialer.status.state).toBe('open');
    expect(html(() => useMuxStatus().state, dialer)).toBe('connecting');
  });
});

describe('without a provider', () => {
  it.each([
    ['`useMux`', () => String(useMux())],
    ['`useMuxStatus`', () => useMuxStatus().state],
  ])('%s throws an error that names the provider', (_, component) => {
    expect(() => html(component)).toThrow('expected a <MuxProvider peer={…}> above this component');
  });

  it.each([
    { args: [of(1), []], says: 'useStream: expected a function, got an object' },
    { args: [() => of(1), 'ACME'], says: "useStream: expected an array of deps, got 'ACME'" },
    { args: [() => of(1), [], { peer: {} }], says: 'useStream: expected a Peer, got an object' },
  ])('`useStream` refuses what TypeScript would: $says', ({ args, says }) => {
    const Mistaken = (): string => useStream(...(args as unknown as [() => Observable<number>, []])).status;
    expect(() => html(Mistaken)).toThrow(new TypeError(says));
  });

  it('`useMuxStatus` refuses an object that is no peer', () => {
    expect(() => html(() => useMuxStatus(JSON.parse('{}') as Peer).state)).toThrow(
      new TypeError('useMuxStatus: expected a Peer, got an object'),
    );
  });

  it('MuxProvider refuses an object that is no peer', () => {
    expect(() => renderToString(createElement(MuxProvider, { peer: JSON.parse('{}') as Peer }))).toThrow(
      'MuxProvider: expected a Peer, got an object',
    );
  });
});
