// A SharedWorker with one connection to the server, which all tabs share.
import { connect, Peer, type StreamHandler } from 'rxmux';
import { portSocket } from 'rxmux/port';

const server = connect(`ws://${location.host}/mux`, { lazy: true, reconnect: true });
const tabs = new Set<Peer>();

/** Passes a tab's stream on to the server. Either end waits while the other does, and a reset reaches the other end as it is. */
const forward: StreamHandler = async (payload, stream) => {
  const upstream = server.open(payload, { headers: stream.headers, signal: stream.signal });
  // A failed upload ends `upstream`, which the next line reports.
  upstream.sendAll(stream).catch(() => undefined);
  await stream.sendAll(upstream);
};

server.onStream((news) => {
  for (const tab of tabs) tab.notify(news);
});

addEventListener('connect', (event) => {
  for (const port of (event as MessageEvent).ports) {
    const tab = new Peer(portSocket(port), { isDialer: false, onStream: forward });
    tabs.add(tab);
    void tab.closed.then(() => tabs.delete(tab));
    void tab.serve();
  }
});
