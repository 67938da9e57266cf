import { render } from 'preact';
import type { InspectorFeed } from 'rxmux/inspect';
import plots from 'uplot/dist/uPlot.min.css';
import { Inspector } from './inspector.js';
import { Page } from './page.js';
import style from './page.css';

/** How the page is shown. */
export interface ShowOptions {
  /** The server's address in copied commands, where the feed does not say it. Default `URL`. */
  readonly url?: string;
}

/** Shows a feed in an element, whose height it takes. Without a feed the page waits for a recording. Returns a function that ends it. */
export function show(element: HTMLElement, feed: InspectorFeed | null, { url = 'URL' }: ShowOptions = {}): () => void {
  const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
  const inspector = new Inspector(url);
  render(
    <>
      <style>{plots + style}</style>
      <Page inspector={inspector} />
    </>,
    root,
  );
  if (feed !== null) inspector.watch(feed);
  return () => {
    inspector.close();
    render(null, root);
  };
}
