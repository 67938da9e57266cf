/**
 * The doors for Node come from the packages' builds for Node.
 *
 * @jest-environment jsdom
 * @jest-environment-options {"customExportConditions": ["node"]}
 */
import { renderToString } from 'react-dom/server';
import { Component, createElement } from 'react';
import type { ReactNode } from 'react';
import { of } from 'rxjs';
import { useMux, useStream } from '../../src/react.js';
import { rendered } from '../support/peer/rendered.js';
import { createPair } from '../support/peer/tracked.js';
import { mistakes } from './mistake.js';

mistakes([
  {
    mistake: 'a component has no provider above it',
    program: () => renderToString(createElement(() => String(useMux()))),
    fails: /^expected a <MuxProvider peer=\{…\}> above this component, got none$/,
  },
  {
    mistake: 'the deps of a hook hold a new function in each render',
    program: () =>
      new Promise((_, reject) => {
        class Boundary extends Component<{ readonly children: ReactNode }> {
          override componentDidCatch = reject;
          override state = { failed: false };
          static getDerivedStateFromError = () => ({ failed: true });
          override render = (): ReactNode => (this.state.failed ? 'failed' : this.props.children);
        }
        const Price = (): string => useStream(() => of(1), [() => 1]).status;
        rendered(() => createElement(Boundary, null, createElement(Price)), {});
      }),
    // React's own line.
    prints: [/useStream: expected deps\[0\]/],
    fails: /^useStream: expected deps\[0\] to stay the same in one render: make it outside of the component, or by useMemo$/,
  },
  {
    mistake: 'a hook of streams gets a promise',
    program: async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => stream.reply(2));
      const page = rendered(() => String(useStream(() => dialer.request('x'), []).value), {});
      await page.shows('2');
      page.unmount();
    },
    gets: undefined,
    because: 'a promise is a source of hooks',
  },
]);
