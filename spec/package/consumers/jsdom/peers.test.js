const { connect } = require('rxmux');
const { createPair } = require('rxmux/testing');

/** A payload that needs fragments, with JSON escapes and characters of several bytes. */
const LARGE = 'a"é😀'.repeat(50_000);

test('The environment is jsdom without TextEncoder', () => {
  expect([typeof document, typeof TextEncoder]).toEqual(['object', 'undefined']);
});

test('Two peers in memory exchange a large payload', async () => {
  const { dialer, acceptor } = createPair();
  acceptor.onStream((payload, stream) => stream.reply(payload));
  expect(await dialer.request(LARGE)).toBe(LARGE);
});

test('A peer uses a socket of the environment', async () => {
  const peer = connect(process.env.SERVER);
  expect(await peer.request({ n: 21 })).toBe(42);
  await peer.close();
});
