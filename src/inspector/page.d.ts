// The built page of examples/inspector. It has a file of its own, which the panel loads once it is opened.
import type { InspectorFeed } from '../inspect/batch.js';

/** How the page is shown. */
export interface ShowOptions {
  /** The server's address in copied commands, where the feed does not say it. Default `URL`. */
  readonly url?: string;
}

/** Shows a feed in an element, whose height it takes. Without a feed the page waits for a recording. Returns a function that ends it. */
export function show(element: HTMLElement, feed: InspectorFeed | null, options?: ShowOptions): () => void;
