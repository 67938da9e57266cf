import assert from 'node:assert/strict';
import { test } from 'node:test';
import { switchMap, take, toArray } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { connect, respond } from '../../../src/index.js';
import { createPair, createServer, fakePeer, frameMarbles, peerFromMarbles, printMarbles, virtualTime } from '../../../src/testing.js';

const scheduler = (): TestScheduler => new TestScheduler((actual, expected) => assert.deepEqual(actual, expected));

void test('A pair works in real time', async () => {
  const { dialer, acceptor } = createPair({ latencyMs: 1 });
  acceptor.onStream((payload, stream) => stream.reply(payload));
  assert.equal(await dialer.request('x'), 'x');
  assert.equal((await dialer.close()).code, 1000);
});

void test('A pair works in virtual time', async () => {
  const time = virtualTime();
  const { dialer, acceptor } = createPair({ latencyMs: 60_000 });
  acceptor.streams$.pipe(respond(() => [1, 2, 3])).subscribe();
  let received: unknown;
  dialer
    .open$('x')
    .pipe(toArray())
    .subscribe((all) => (received = all));
  await time.advance(120_000);
  assert.deepEqual(received, [1, 2, 3]);
  time.restore();
});

void test('A peer reconnects to a test server', async () => {
  const time = virtualTime();
  const server = createServer({ onStream: (payload, stream) => stream.reply(payload) });
  const peer = connect('ws://test', { socket: server.socket, reconnect: true });
  await time.advance(1);
  server.link?.cut();
  const answer = peer.request('again');
  await time.advance(30_000);
  assert.equal(await answer, 'again');
  time.restore();
});

void test('A peer reads and sends rows of marbles', () => {
  scheduler().run((helpers) => {
    const { outbound$, inbound } = peerFromMarbles(helpers, '--o--|', frameMarbles(1), { onStream: (_, stream) => stream.reply() });
    helpers
      .expectObservable(
        outbound$.pipe(
          take(1),
          switchMap((frame) => frame.type),
        ),
      )
      .toBe('--(data|)');
    helpers.expectSubscriptions(inbound.subscriptions).toBe('^----!');
  });
});

void test('A fake peer records a cancelled call', () => {
  scheduler().run((helpers) => {
    const { peer, calls } = fakePeer(helpers, { 'open prices': '--a-b-|' });
    helpers.expectObservable(peer.open$('prices').pipe(take(1))).toBe('--(a|)');
    helpers.flush();
    assert.deepEqual(
      calls.map(({ row, cancelled }) => ({ row, cancelled })),
      [{ row: 'open prices', cancelled: true }],
    );
  });
});

void test('A session prints as a diagram', async () => {
  const time = virtualTime();
  const { dialer, acceptor } = createPair({ latencyMs: 1 });
  acceptor.onStream((_, stream) => stream.reply());
  let text = '';
  dialer.frames$.pipe(printMarbles()).subscribe((drawn) => (text = drawn));
  dialer.request$('x').subscribe();
  await time.advance(2);
  void dialer.close();
  await time.advance(2);
  time.restore();
  assert.match(text, /^stream 1 tx {4}o-/);
});
