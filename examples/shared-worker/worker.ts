// A SharedWorker with one connection to the server, which all tabs share.
import { connect, isMuxError, Peer, ResetCode, type Stream, type StreamHandler } from 'rxmux';
import { portSocket } from 'rxmux/port';

const server = connect(`ws://${location.host}/mux`, { lazy: true, reconnect: true });
const tabs = new Set<Peer>();

/** Yields the answers of the server. Its refusal stays one, so that a tab may safely make the call again. */
async function* answersOf(upstream: Stream, stream: Stream): AsyncGenerator<unknown, void> {
  try {
    yield* upstream;
  } catch (error) {
    if (!isMuxError(error) || error.code !== 'REFUSED') throw error;
    stream.reset(ResetCode.REFUSED, error.reason);
  }
}

/** Passes a tab's stream on to the server. Either end waits while the other does. Headers, trailers and resets reach the other end. */
const forward: StreamHandler = async (payload, stream) => {
  const { headers, signal } = stream;
  const upstream = server.open(payload, { headers, signal });
  upstream.replyHeaders$.subscribe((reply) => {
    stream.sendHeaders(reply);
  });
  upstream.setTrailers(() => stream.trailers);
  stream.setTrailers(() => upstream.trailers);
  // A failed upload ends `upstream`, which the next line reports.
  upstream.sendAll(stream).catch(() => undefined);
  await stream.sendAll(answersOf(upstream, stream));
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
