import { connect } from 'rxmux';
import { inspectorFeed } from 'rxmux/inspect';
import type { InspectorFeed } from 'rxmux/inspect';
import { busy } from './busy.js';
import { sample } from './sample.js';
import { show } from './show.js';

/**
 * The address of the feed: after the `#` of the page. `#sample` shows two peers of this page, `#busy=2000` that number of
 * frames a second, `#ws://…` a server. Without one the page waits for a recording. A server that serves the page says `#/path` for itself.
 */
const address = location.hash.slice(1);
const root = document.getElementById('root');
if (root !== null) show(root, feedOf(address), { url: new URLSearchParams(location.search).get('url') ?? 'URL' });

function feedOf(of: string): InspectorFeed | null {
  if (of === '') return null;
  if (of === 'sample') return sample().feed;
  if (of.startsWith('busy=')) return busy(Number(of.slice('busy='.length)));
  const url = new URL(of, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  return inspectorFeed(connect(url.href, { reconnect: true }));
}
