// Uses every kind of call over one kind of socket, and returns the outcomes. It imports no module of a platform.
import { lastValueFrom, map, range, take, toArray } from 'rxjs';
import { connect } from 'rxmux';

const PIECE = 'x'.repeat(64 * 1024);

/** @param socket the option of `connect` */
export async function outcomes(url, socket) {
  const calls = await over('/mux', async (peer) => ({
    echo: await peer.request({ op: 'echo', value: 'é😀' }),
    count: (await lastValueFrom(peer.open$({ op: 'count' }).pipe(toArray()))).length,
    uploaded: await lastValueFrom(peer.open$({ op: 'size' }, { input: range(0, 16).pipe(map(() => PIECE)) })),
    first: await lastValueFrom(peer.open$({ op: 'ticks' }).pipe(take(3), toArray())),
    cause: await peer.request({ op: 'cause' }),
  }));
  const left = await over('/mux', async (peer) => {
    peer.open({ op: 'leave' });
    return peer.closed;
  });
  const refused = await over('/refused', (peer) => peer.opened.catch(({ code, status, message }) => ({ code, status, message })));
  return { ...calls.outcome, closed: calls.closed, left: left.outcome, refused: refused.outcome };

  async function over(path, use) {
    const peer = connect(`${url}${path}`, { socket });
    return { outcome: await use(peer), closed: await peer.close({ reason: 'that is all' }) };
  }
}
