import type { InspectorFeed } from '../inspect/batch.js';
import { inspect, INSPECT_OPTIONS } from '../inspect/inspect.js';
import type { InspectOptions } from '../inspect/inspect.js';
import type { Peer } from '../peer/peer.js';
import { peersOf } from '../peer/peers.js';
import type { PeersSource } from '../peer/peers.js';
import { checkBoolean, checkOptions, optionError, readOptions } from '../util/check.js';
import type { Options, Used } from '../util/check.js';

/** How the inspector is shown in a page. */
export interface ShowInspectorOptions extends InspectOptions {
  /** The element that the inspector fills at once. Default: a panel at the lower edge of the page, which a button opens. */
  readonly element?: HTMLElement | undefined;
  /** Whether the panel begins open. Default `false`. */
  readonly isOpen?: boolean | undefined;
}

/** The inspector of a page. */
export interface InspectorPanel {
  /** Removes the panel, and watches the peers no more. It is safe to call it twice. */
  close(): void;
}

type PanelOptions = Omit<ShowInspectorOptions, keyof InspectOptions>;

/** Declares the options of a panel, beyond the options of its inspection. */
const PANEL_OPTIONS: Options<PanelOptions, Used<PanelOptions, 'element'>> = {
  element: [checkElement, undefined],
  isOpen: [checkBoolean, false],
};

/**
 * Shows the frames of a peer, or of several peers, in the page itself. The last ten minutes are kept, so the panel also has the frames of
 * before. It loads the code that draws them once it is opened. A page that never calls this function has none of the code.
 *
 * @param source a peer, or an object whose `peers$` emits peers
 * @throws TypeError for a bad option, and for a source that is neither; Error in a program without a document
 *
 * @example
 * ```ts
 * const peer = connect('/mux', { reconnect: true });
 * if (import.meta.env.DEV) showInspector(peer);
 * ```
 */
export function showInspector(source: Peer | PeersSource, options: ShowInspectorOptions = {}): InspectorPanel {
  checkOptions(options, PANEL_OPTIONS, INSPECT_OPTIONS);
  const { element, isOpen, ...watched } = options;
  const used = readOptions(PANEL_OPTIONS, { element, isOpen });
  peersOf('showInspector', source);
  if (typeof document === 'undefined')
    throw new Error('showInspector: expected a page, got a program without a document: use answerInspector of rxmux/inspect');
  const inspection = inspect(source, watched);
  const remove = used.element === undefined ? dock(inspection.feed, used.isOpen) : fill(used.element, inspection.feed);
  return {
    close: () => {
      remove();
      inspection.close();
    },
  };
}

/** Not `instanceof`: an element of a frame is no instance of this page's class. */
function checkElement(name: string, element: unknown): HTMLElement {
  if (typeof element === 'object' && element !== null && 'attachShadow' in element) return element as HTMLElement;
  throw optionError(name, 'an element', element);
}

/** Draws a feed in an element, once the code for it is loaded. Returns a function that ends it. */
function fill(element: HTMLElement, feed: InspectorFeed): () => void {
  let isShown = true;
  let hide = (): void => undefined;
  import('./page.js').then(
    ({ show }) => {
      if (isShown) hide = show(element, feed);
    },
    (error: unknown) => {
      element.textContent = `The inspector could not be loaded: ${String(error)}`;
    },
  );
  return () => {
    isShown = false;
    hide();
  };
}

/** Puts a button into the page, which opens and hides the panel. Returns a function that removes both. */
function dock(feed: InspectorFeed, isOpen: boolean): () => void {
  const host = document.createElement('div');
  const root = host.attachShadow({ mode: 'open' });
  const style = document.createElement('style');
  style.textContent = STYLE;
  const panel = document.createElement('section');
  panel.ariaLabel = 'rxmux inspector';
  const button = document.createElement('button');
  button.type = 'button';
  root.append(style, panel, button);
  let hide: (() => void) | null = null;
  const open = (): void => {
    const view = document.createElement('div');
    panel.replaceChildren(view);
    hide = fill(view, feed);
  };
  const close = (): void => {
    hide?.();
    hide = null;
    panel.replaceChildren();
  };
  const render = (): void => {
    const act = hide === null ? 'Show' : 'Hide';
    panel.hidden = hide === null;
    button.ariaExpanded = String(hide !== null);
    button.ariaLabel = `${act} the rxmux inspector`;
    button.textContent = hide === null ? 'rxmux' : act;
  };
  button.addEventListener('click', () => {
    if (hide === null) open();
    else close();
    render();
  });
  document.body.append(host);
  if (isOpen) open();
  render();
  return () => {
    close();
    host.remove();
  };
}

const STYLE = `
:host { all: initial; color-scheme: light dark; }
section { position: fixed; z-index: 2147483646; inset: auto 0 0; height: max(45vh, 320px); max-height: 100vh;
  border-top: 1px solid #8888; box-shadow: 0 -4px 20px #0003; background: Canvas; }
section[hidden] { display: none; }
section > div { height: 100%; }
button { position: fixed; z-index: 2147483647; right: 12px; bottom: 12px; padding: 6px 12px; border: 1px solid #8888;
  border-radius: 8px; font: 600 13px/1.3 system-ui, sans-serif; color: CanvasText; background: Canvas; cursor: pointer; }
section:not([hidden]) + button { bottom: calc(max(45vh, 320px) + 8px); }
button:focus-visible { outline: 2px solid #3469cb; outline-offset: 2px; }
`;
