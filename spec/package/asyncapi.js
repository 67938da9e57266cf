// The AsyncAPI document of a contract, made by the packed command, passes the official parser, and describes what travels.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { check, emptyFolder, install, removeAll, run, tarball } from './packed.js';

const PACKAGES = ['@asyncapi/parser@3.6', '@valibot/to-json-schema@1', 'ajv@8', 'arktype@2', 'rxjs@7', 'valibot@1', 'zod@4'];

const CONTRACT = `
import { type } from 'arktype';
import { channel, contract, request, stream, upload } from 'rxmux/contract';
import * as v from 'valibot';
import { z } from 'zod';

const Tree = z.object({ name: z.string(), get below() { return z.array(Tree); } }).meta({ id: 'Tree' });

export const api = contract({
  add: request({
    payload: z.object({ id: z.string(), at: z.string().optional() }),
    reply: type({ id: 'string', count: 'number' }),
    errors: { EXISTS: z.object({ id: z.string() }), CLOSED: z.void() },
  }),
  count: request({ reply: z.number() }),
  clear: request({ payload: z.object({ all: z.boolean() }).optional() }),
  trees: { grow: request({ payload: Tree, reply: z.object({ first: Tree, second: Tree }) }) },
  watch: stream({ payload: v.object({ from: v.pipe(v.string(), v.transform(Number)) }), item: v.number() }),
  store: upload({ payload: type({ name: 'string' }), input: v.string(), reply: z.string() }),
  talk: channel({ input: z.string(), item: z.string() }),
  'größe /~%': request({ payload: z.string(), reply: z.string() }),
});
`;

const directory = emptyFolder('asyncapi');
writeFileSync(join(directory, 'package.json'), '{ "name": "shop", "version": "3.1.4", "type": "module" }');
writeFileSync(join(directory, 'api.js'), CONTRACT);

/** Runs the command of the installed package. */
const command = (...args) => run(directory, 'npx', '--no-install', 'rxmux', ...args);

try {
  install(directory, tarball, ...PACKAGES);
  const text = command('asyncapi', '--url', 'wss://example.org/mux', './api.js');
  const load = createRequire(join(directory, 'api.js'));
  const { document, diagnostics } = await new (load('@asyncapi/parser').Parser)().parse(text);
  const errors = diagnostics.filter(({ severity }) => severity === 0).map(({ message, path }) => `${path.join('.')}: ${message}`);
  assert.deepEqual(errors, []);
  assert.equal(document.version(), '3.0.0');
  assert.equal(document.info().title(), 'shop');
  check('the official parser accepts the document', true);
  const names = document
    .channels()
    .all()
    .map((channel) => channel.address());
  assert.deepEqual(names, ['add', 'count', 'clear', 'trees.grow', 'watch', 'store', 'talk', 'größe /~%']);
  assert.ok(
    document
      .operations()
      .all()
      .every((operation) => operation.isReceive() && operation.reply() !== undefined),
  );
  check('the parser finds a channel and an operation for each call', true);
  checkPayloads(document, new (load('ajv').default)({ strict: false, validateFormats: false }));
  check('what travels fits the schemas of the parser, and nothing else does', true);
} finally {
  removeAll();
}

function checkPayloads(document, ajv) {
  const accepts = (address, message, value) => {
    const channel = document
      .channels()
      .all()
      .find((each) => each.address() === address);
    const schema = channel.messages().get(message).payload().json();
    return ajv.validate(withoutCycles(schema), value);
  };
  const failed = { name: 'EXISTS', message: 'EXISTS', data: { id: 'x' }, declared: true };
  const closed = { name: 'CLOSED', message: 'CLOSED', declared: true };
  for (const [address, message, fitting, others] of [
    ['add', 'open', [['add', { id: 'x' }]], [['add'], ['ad', { id: 'x' }], ['add', { id: 1 }], { id: 'x' }]],
    ['add', 'reply', [{ id: 'x', count: 1 }], [{ id: 'x' }, null]],
    ['add', 'error.EXISTS', [failed], [{ ...failed, data: {} }, closed]],
    ['add', 'error.CLOSED', [closed], [failed]],
    ['count', 'open', [['count']], [['count', 1]]],
    ['clear', 'open', [['clear'], ['clear', { all: true }]], [['clear', 1]]],
    ['clear', 'reply', [null], [1]],
    ['watch', 'open', [['watch', { from: '1' }]], [['watch', { from: 1 }]]],
    ['watch', 'item', [1], ['1']],
    ['store', 'input', ['piece'], [1]],
    ['talk', 'open', [['talk']], [['talk', 'hello']]],
    ['größe /~%', 'open', [['größe /~%', 'a']], [['größe', 'a']]],
  ]) {
    for (const value of fitting) assert.ok(accepts(address, message, value), `${message} of ${address}: ${JSON.stringify(value)}`);
    for (const value of others) assert.ok(!accepts(address, message, value), `not ${message} of ${address}: ${JSON.stringify(value)}`);
  }
}

/** The parser adds its own keys, `x-parser-…`, and resolves references to objects. */
function withoutCycles(schema) {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key.startsWith('x-parser-') ? undefined : value)));
}
