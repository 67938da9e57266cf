import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BuiltCommand } from './command.js';

let command: BuiltCommand;
let apiModule: string;
const files = mkdtempSync(join(tmpdir(), 'rxmux-asyncapi-'));

beforeAll(() => {
  command = new BuiltCommand();
  apiModule = command.built('api.ts');
  writeFileSync(join(files, 'package.json'), '{"name":"shop","version":"3.1.4"}');
});

afterAll(() => {
  command.dispose();
  rmSync(files, { recursive: true });
});

/** Writes a module of a contract, whose schemas follow Standard JSON Schema where they have one. */
function written(name: string, contract: string): string {
  const path = join(files, name);
  writeFileSync(path, `${HELPERS}\nexport const api = ${contract};`);
  return path;
}

/** `schema` makes a schema with a JSON Schema for each side; `without` makes one of another library without it. */
const HELPERS = `
const standard = (vendor, accepts, more) => ({ '~standard': { version: 1, vendor, validate: (value) => accepts(value) ? { value } : { issues: [] }, ...more } });
const schema = (of, accepts = () => false) => standard('test', accepts, { jsonSchema: { input: ({ target }) => ({ $schema: target, ...of }), output: () => ({ out: true }) } });
const without = (vendor) => standard(vendor, () => true);
const nothing = { ...without('test'), type: 'void' };
`;

interface Document {
  readonly info: unknown;
  readonly servers: unknown;
  readonly defaultContentType: unknown;
  readonly channels: Readonly<
    Record<string, { readonly address: string; readonly messages: Readonly<Record<string, { readonly payload: object }>> }>
  >;
  readonly operations: Readonly<Record<string, object>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

async function documented(...args: readonly string[]): Promise<Document> {
  const { status, out, err } = await command.run(['asyncapi', ...args]);
  expect([status, err]).toEqual([0, '']);
  return JSON.parse(out) as Document;
}

const payloadsOf = ({ channels }: Document, id: string): object =>
  Object.fromEntries(Object.entries(channels[id]?.messages ?? {}).map(([name, { payload }]) => [name, payload]));

const refTo = (id: string): object => ({ $ref: `#/components/schemas/${id}` });

describe('rxmux asyncapi', () => {
  it('A document has a channel for each call, with the messages of both sides as they travel', async () => {
    const document = await documented(apiModule);
    expect(Object.keys(document.channels)).toEqual(['add', 'count', 'rows.watch', 'rows.store', 'rows.talk']);
    expect(payloadsOf(document, 'add')).toEqual({
      open: { type: 'array', items: [{ const: 'add' }, refTo('add.payload')], minItems: 2, maxItems: 2 },
      reply: refTo('add.reply'),
      'error.EXISTS': {
        type: 'object',
        properties: { name: { const: 'EXISTS' }, message: { type: 'string' }, declared: { const: true }, data: refTo('add.error.EXISTS') },
        required: ['name', 'message', 'data'],
      },
    });
    expect(payloadsOf(document, 'count')).toEqual({
      open: { type: 'array', items: [{ const: 'count' }], minItems: 1, maxItems: 1 },
      reply: refTo('count.reply'),
    });
    expect(payloadsOf(document, 'rows.talk')).toMatchObject({ input: refTo('rows.talk.input'), item: refTo('rows.talk.item') });
    expect(document.components.schemas['add.payload']).toEqual({
      type: 'object',
      properties: { id: { type: 'string' } },
      required: ['id'],
    });
    expect(document.operations['rows.store']).toEqual({
      action: 'receive',
      channel: { $ref: '#/channels/rows.store' },
      messages: ['open', 'input'].map((message) => ({ $ref: `#/channels/rows.store/messages/${message}` })),
      reply: { channel: { $ref: '#/channels/rows.store' }, messages: [{ $ref: '#/channels/rows.store/messages/reply' }] },
      'x-rxmux-kind': 'upload',
    });
  });

  it('A document has the title of its package, and the address and the codec of its server', async () => {
    const path = written('facts.mjs', '{ a: { kind: "request", reply: schema({}) } }');
    const { info, servers, defaultContentType } = await documented(
      '--codec',
      'msgpack',
      '--url',
      'https://example.org:8443/mux?token=a',
      path,
    );
    expect(info).toMatchObject({ title: 'shop', version: '3.1.4', description: expect.stringContaining('mux.v1.msgpack') });
    expect(servers).toEqual({ main: { host: 'example.org:8443', protocol: 'wss', pathname: '/mux' } });
    expect(defaultContentType).toBe('application/msgpack');
  });

  it('Callers pass the input of a schema, and answers send its output', async () => {
    const path = written(
      'sides.mjs',
      '{ a: { kind: "channel", payload: schema({ p: 1 }), input: schema({ i: 1 }), item: schema({ o: 1 }) } }',
    );
    expect((await documented(path)).components.schemas).toEqual({ 'a.payload': { p: 1 }, 'a.input': { i: 1 }, 'a.item': { out: true } });
  });

  it('A value that may be left out, and a value that is nothing, are described so', async () => {
    const path = written(
      'optional.mjs',
      `{
        a: { kind: 'request', payload: schema({ type: 'string' }, (value) => value === undefined || value === ''), errors: { GONE: without('zod'), SOLD: nothing } },
        b: { kind: 'stream', payload: nothing, item: schema({}) },
      }`,
    );
    const document = await documented('--any', path);
    expect(payloadsOf(document, 'a')).toEqual({
      open: { type: 'array', items: [{ const: 'a' }, refTo('a.payload')], minItems: 1, maxItems: 2 },
      reply: { type: 'null' },
      'error.GONE': {
        type: 'object',
        properties: { name: { const: 'GONE' }, message: { type: 'string' }, declared: { const: true }, data: {} },
        required: ['name', 'message'],
      },
      'error.SOLD': {
        type: 'object',
        properties: { name: { const: 'SOLD' }, message: { type: 'string' }, declared: { const: true } },
        required: ['name', 'message'],
      },
    });
    expect(payloadsOf(document, 'b')).toMatchObject({ open: { items: [{ const: 'b' }], minItems: 1, maxItems: 1 } });
  });

  it('References lead to their place in the document, and names become its keys', async () => {
    const tree = `{ $ref: '#/definitions/Tree', definitions: { Tree: { items: { $ref: '#/definitions/Tree' } } } }`;
    const path = written(
      'trees.mjs',
      `{ 'a/b': { kind: 'request', payload: schema(${tree}) }, 'a b': { kind: 'request', payload: schema({ not: { $ref: '#' } }), errors: { 'a b': nothing, 'a/b': nothing } } }`,
    );
    const { channels, components } = await documented(path);
    expect(Object.entries(channels).map(([id, { address }]) => [id, address])).toEqual([
      ['a_b', 'a/b'],
      ['a_b_', 'a b'],
    ]);
    expect(Object.keys(channels['a_b_']?.messages ?? {})).toEqual(['open', 'reply', 'error.a_b', 'error.a_b_']);
    expect(components.schemas).toEqual({
      'a_b.payload': {
        allOf: [refTo('a_b.payload/definitions/Tree')],
        definitions: { Tree: { items: refTo('a_b.payload/definitions/Tree') } },
      },
      'a_b_.payload': { not: refTo('a_b_.payload') },
    });
  });

  it('The command names each value without a JSON Schema, and --any takes them', async () => {
    const path = written(
      'missing.mjs',
      `{
        square: { kind: 'request' },
        old: { kind: 'request', payload: without('other'), reply: without('rxmux'), errors: { GONE: without('valibot') } },
        dates: { kind: 'stream', item: standard('test', () => false, { jsonSchema: { output: () => { throw new Error('Date cannot be represented'); } } }) },
      }`,
    );
    const { status, err } = await command.run(['asyncapi', path]);
    expect([status, err.split('\n')]).toEqual([
      2,
      [
        'rxmux: expected a JSON Schema of each value (--any takes any value):',
        "  'square': its types do not exist at run time: declare it with schemas",
        "  the payload of 'old': this schema of other has no converter to JSON Schema: zod has one from 4.2 on, arktype from 2.1.28 on",
        "  the error GONE of 'old': valibot needs the package @valibot/to-json-schema: npm install @valibot/to-json-schema",
        "  the reply of 'old': a plain type has no schema",
        "  the item of 'dates': Date cannot be represented",
        'Try: rxmux asyncapi --help',
        '',
      ],
    ]);
    expect(payloadsOf(await documented('--any', path), 'square')).toEqual({
      open: { type: 'array', items: [{ const: 'square' }, {}], minItems: 1, maxItems: 2 },
      reply: {},
    });
  });

  it.each([
    ['no module', [], 'expected one module of a contract, got 0'],
    ['two modules', ['a', 'b'], 'expected one module of a contract, got 2'],
    ['another codec', ['--codec', 'cbor', 'a'], "expected the codec json or msgpack, got 'cbor'"],
    ['another address', ['--url', 'ftp://x', 'a'], "expected an address with ws: or wss:, got 'ftp://x'"],
  ])('The command refuses %s', async (_, args, reason) => {
    const { status, err } = await command.run(['asyncapi', ...args]);
    expect([status, err]).toEqual([2, expect.stringContaining(`rxmux: ${reason}`)]);
  });
});
