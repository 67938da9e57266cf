/** @jest-environment jsdom */
import { describe, expect, it, jest } from '@jest/globals';
import { createElement } from 'react';
import { connect } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { MuxProvider, useMux, useMuxStatus } from '../../src/react.js';
import { AT_ONCE, dialed } from '../../marbles/support/dialing.js';
import { collectLogs } from '../support/peer/logs.js';
import { rendered } from '../support/peer/rendered.js';
import { createPair } from '../support/peer/tracked.js';

const Status = ({ peer }: { peer?: Peer }): string => useMuxStatus(peer).state;

collectLogs();

describe('MuxProvider', () => {
  it('`useMux` returns the peer of the provider', () => {
    const { dialer } = createPair();
    const page = rendered(() => String(useMux() === dialer), {}, { peer: dialer });
    expect(page.text()).toBe('true');
  });

  it('MuxProvider takes a key, and the `data-` properties that tools add to every element', () => {
    const { dialer } = createPair();
    const properties = { key: 'mux', peer: dialer, 'data-component': 'MuxProvider' };
    expect(rendered(() => createElement(MuxProvider, properties, 'page'), {}).text()).toBe('page');
  });

  it('Unmounting the provider does not close its peer', () => {
    const { dialer } = createPair();
    const page = rendered(() => 'page', {}, { peer: dialer });
    page.unmount();
    expect(dialer.status.state).toBe('open');
  });
});

describe('`useMuxStatus`', () => {
  it('`useMuxStatus` renders each status of the peer', async () => {
    const { dial, server } = dialed(() => undefined);
    const peer = dial({ reconnect: AT_ONCE });
    const page = rendered(Status, {}, { peer });
    await page.shows('open');
    server.refuse(0);
    server.link?.cut();
    await page.shows('waiting');
    server.refuse(null);
    await page.shows('open');
    await peer.close();
    await page.shows('closed');
  });

  it('`useMuxStatus` watches the peer that it is given, in place of the provided one', async () => {
    const [provided, given] = [createPair().dialer, createPair().dialer];
    await given.close();
    const page = rendered(Status, { peer: given }, { peer: provided });
    expect(page.text()).toBe('closed');
  });

  it('`useMuxStatus` makes no lazy peer dial', async () => {
    const socket = jest.fn<() => never>();
    const peer = connect('ws://test', { lazy: true, socket });
    const page = rendered(Status, {}, { peer, isStrict: true });
    await page.shows('connecting');
    expect(socket).not.toHaveBeenCalled();
    await peer.close();
  });
});
