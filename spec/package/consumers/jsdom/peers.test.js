const { connect } = require('rxmux');
const { createPair } = require('rxmux/testing');

/** Cut into fragments, with what JSON escapes and characters of several bytes. */
const LARGE = 'a"é😀'.repeat(50_000);

test('the environment is the one that this is about', () => {
  expect([typeof document, typeof TextEncoder]).toEqual(['object', 'undefined']);
});

test('two peers in memory', async () => {
  const { dialer, acceptor } = createPair();
  acceptor.onStream((payload, stream) => stream.reply(payload));
  expect(await dialer.request(LARGE)).toBe(LARGE);
});

test('a peer over a socket of the environment', async () => {
  const peer = connect(process.env.SERVER);
  expect(await peer.request({ n: 21 })).toBe(42);
  await peer.close();
});
