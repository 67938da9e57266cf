// The codec of from-trpc.md, which the test takes from the page, beside `rich`.
import assert from 'node:assert/strict';
import { connect, serve } from 'rxmux/node';
import { RichCodec } from 'rxmux/rich';
import { SuperJsonCodec } from './superjson-codec.js';

const orders = Array.from({ length: 1_000 }, (_, id) => ({ id, at: new Date(id), lots: new Set([id]) }));
const both = {
  at: new Date(0),
  map: new Map([['a', 1n]]),
  set: new Set([1]),
  none: undefined,
  numbers: [NaN, Infinity, -Infinity, -0],
  bytes: Uint8Array.of(1, 2),
  long: 'x'.repeat(540_000),
};

async function withEcho(codec, work) {
  const server = serve({ port: 0, host: '127.0.0.1', codec, handler: (payload, stream) => stream.reply(payload) });
  await server.listening;
  const peer = connect(server.url, { codec });
  await work((payload) => peer.request(payload));
  await peer.close();
  await server.close();
}

export async function checkSuperJson() {
  await withEcho(new SuperJsonCodec(), async (echo) => {
    for (const value of [both, orders, /a/g, new URL('http://a.b/'), Float32Array.of(1.5), undefined]) {
      assert.deepEqual(await echo(value), value ?? null);
    }
    const error = await echo(Object.assign(new RangeError('full'), { code: 'FULL' }));
    assert.deepEqual([error.constructor, error.name, error.message, error.code], [Error, 'RangeError', 'full', undefined]);
    assert.deepEqual(await echo([new Date(NaN), [1, , 3]]), [null, [1, null, 3]]);
    await assert.rejects(echo({ constructor: 1 }), /prototype pollution/);
    await assert.rejects(echo(Buffer.from('a')), /Trying to deserialize unknown typed array/);
    // The connection has ended, and refuses every later call.
    await assert.rejects(echo('later'), { name: 'RefusedError' });
  });
  await withEcho(new RichCodec(), async (echo) => {
    assert.ok(Number.isNaN((await echo(new Date(NaN))).getTime()));
    for (const value of [both, orders, [1, undefined, 3]]) assert.deepEqual(await echo(value), value);
    assert.equal((await echo({ constructor: 1 })).constructor, 1);
    for (const value of [/a/g, new RangeError('full')]) await assert.rejects(echo(value), { name: 'TypeError' });
    assert.equal(await echo(new URL('http://a.b/')), 'http://a.b/');
    assert.deepEqual(await echo(Float32Array.of(1.5)), Uint8Array.of(0, 0, 192, 63));
    assert.deepEqual(await echo(Buffer.from('a')), Uint8Array.of(97));
  });
  const lengths = [new SuperJsonCodec(), new RichCodec()].map((codec) => codec.encodePayload(orders).length);
  assert.deepEqual(lengths, [92_596, 59_671]);
}
