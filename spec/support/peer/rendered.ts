import { createElement, StrictMode } from 'react';
import type { ReactElement } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { MuxProvider } from '../../../src/react.js';
import type { Peer } from '../../../src/index.js';
import { until } from '../socket/leaks.js';

/** A component in a page. */
export interface Rendered<Props> {
  /** The text of the page. */
  readonly text: () => string;
  /** Renders again, with other properties. */
  readonly render: (props: Props) => void;
  /** Waits until the page has this text. */
  readonly shows: (expected: string) => Promise<void>;
  readonly unmount: () => void;
}

/** How a component is rendered. */
export interface Rendering {
  /** The peer of the provider; without it there is no provider. */
  readonly peer?: Peer;
  readonly isStrict?: boolean;
  /** The page as a server has rendered it. */
  readonly html?: string;
  /** Called for what the page differs in from the server's. */
  readonly onRecoverableError?: (error: unknown) => void;
}

/** Adds the provider of a peer, if there is one. */
export function within(peer: Peer | undefined, element: ReactElement): ReactElement {
  return peer === undefined ? element : createElement(MuxProvider, { peer }, element);
}

/** Renders a component into a page of its own, and runs its effects. */
export function rendered<Props extends object>(
  component: (props: Props) => ReactElement | string,
  props: Props,
  { peer, isStrict = false, html, ...options }: Rendering = {},
): Rendered<Props> {
  const page = document.createElement('div');
  page.innerHTML = html ?? '';
  const element = (given: Props): ReactElement => {
    const inner = within(peer, createElement(component, given));
    return isStrict ? createElement(StrictMode, null, inner) : inner;
  };
  const root = html === undefined ? createRoot(page) : hydrateRoot(page, element(props), options);
  const render = (given: Props): void => flushSync(() => root.render(element(given)));
  if (html === undefined) render(props);
  const text = (): string => page.textContent;
  return {
    text,
    render,
    shows: (expected) =>
      until(
        () => `the page to show '${expected}', not '${text()}',`,
        () => text() === expected,
      ),
    unmount: () => flushSync(() => root.unmount()),
  };
}
