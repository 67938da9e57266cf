// A client with the global WebSocket. It makes calls over two sockets, and then only listens.
import { merge, take } from 'rxjs';
import { connect } from '../../src/index.js';

const MIB = 1024 * 1024;
const [url = ''] = process.argv.slice(2);
const peers = [connect(url), connect(url)];

async function run(): Promise<void> {
  for (const peer of peers) {
    const measured = await peer.request<number>({ op: 'measure', text: 'x'.repeat(MIB) });
    const fetched = await peer.request<string>({ op: 'fetch', length: MIB });
    console.log(measured === MIB && fetched.length === MIB ? 'answered' : 'wrong answers');
  }
  merge(...peers.map((peer) => peer.open$({ op: 'ticks' }).pipe(take(5)))).subscribe({
    complete: () => {
      console.log('heard');
      for (const peer of peers) void peer.close();
    },
  });
}

void run();
