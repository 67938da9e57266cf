import type { Procedure, StandardSchemaV1 } from 'rxmux/contract';
import type { Procedures } from '../contract-module.js';
import { isNothing, isOptional, jsonSchemaOf, movedTo } from './json-schema.js';
import type { JsonSchema, Side } from './json-schema.js';

/** The facts about an API that its contract does not have. */
export interface Api {
  readonly title: string;
  readonly version: string;
  /** The codec, which names the content type and the subprotocol. */
  readonly codec: string;
  /** The address of a server; `null` for none. */
  readonly url: URL | null;
  /** The module of the contract. */
  readonly file: string;
  /** Whether a value without a JSON Schema may be any value. */
  readonly any: boolean;
}

/** A message of a channel. */
interface Message {
  readonly summary: string;
  readonly payload: JsonSchema;
}

type Messages = Readonly<Record<string, Message>>;

/** A document, and why parts of it could not be made. */
export interface Documented {
  readonly document: object;
  /** Each value without a JSON Schema. */
  readonly missing: readonly string[];
}

/** Describes a contract as the peer that answers it: AsyncAPI 3.0, a channel for each call. */
export function documentOf(procedures: Procedures, api: Api): Documented {
  const { title, version, codec, url } = api;
  const schemas = new Schemas(api);
  const ids = new Set<string>();
  const calls = [...procedures].map(([name, procedure]) => {
    const id = idOf(name, ids);
    return { id, name, procedure, ...messagesOf(id, name, procedure, schemas) };
  });
  const document = {
    asyncapi: '3.0.0',
    info: {
      title,
      version,
      description: [
        `Calls over one WebSocket with the subprotocol mux.v1.${codec}.`,
        'Each channel is a stream: its open frame carries the message open, data frames carry inputs, replies and items, and a reset frame carries an error.',
      ].join(' '),
    },
    ...(url === null ? {} : { servers: { main: serverOf(url) } }),
    defaultContentType: `application/${codec}`,
    channels: Object.fromEntries(
      calls.map(({ id, name, asked, answered }) => [id, { address: name, messages: { ...asked, ...answered } }]),
    ),
    operations: Object.fromEntries(
      calls.map(({ id, procedure, asked, answered }) => [
        id,
        {
          action: 'receive',
          channel: { $ref: `#/channels/${id}` },
          messages: referencesTo(id, asked),
          reply: { channel: { $ref: `#/channels/${id}` }, messages: referencesTo(id, answered) },
          'x-rxmux-kind': procedure.kind,
        },
      ]),
    ),
    components: { schemas: schemas.all },
  };
  return { document, missing: schemas.missing };
}

function serverOf({ host, pathname, protocol }: URL): object {
  const scheme = protocol.replace(/^http/, 'ws').replace(':', '');
  return { host, protocol: scheme, ...(pathname === '/' ? {} : { pathname }) };
}

/** Returns a name as a key of a document, which has letters, digits, and the characters `.`, `-` and `_`. */
function idOf(name: string, taken: Set<string>): string {
  let id = name.replace(/[^a-zA-Z0-9._-]/g, '_');
  while (taken.has(id)) id += '_';
  taken.add(id);
  return id;
}

function referencesTo(id: string, messages: Messages): object[] {
  return Object.keys(messages).map((message) => ({ $ref: `#/channels/${id}/messages/${message}` }));
}

interface CallMessages {
  /** The messages of the caller. */
  readonly asked: Messages;
  /** The messages of the answer. */
  readonly answered: Messages;
}

/** The schemas of a procedure, by their public names. */
interface Declared {
  readonly payload?: StandardSchemaV1;
  readonly input?: StandardSchemaV1;
  readonly reply?: StandardSchemaV1;
  readonly item?: StandardSchemaV1;
  readonly errors?: Readonly<Record<string, StandardSchemaV1>>;
}

function messagesOf(id: string, name: string, procedure: Procedure, schemas: Schemas): CallMessages {
  const { kind } = procedure;
  const { payload, input, reply, item, errors = {} } = procedure as Declared;
  const isPlain = [payload, input, reply, item].every((schema) => schema === undefined);
  if (isPlain) schemas.refuse(`'${name}'`, 'its types do not exist at run time: declare it with schemas');
  const schemaOf = (what: string, schema: StandardSchemaV1 | undefined, side: Side): JsonSchema | null =>
    isPlain ? {} : schemas.add(`${id}.${what}`, `the ${what} of '${name}'`, schema, side);
  const opened = schemaOf('payload', payload, 'input');
  const ids = new Set<string>();
  const failures = Object.entries(errors).map(([error, data]): [string, Message] => {
    const errorId = `error.${idOf(error, ids)}`;
    const schema = schemas.add(`${id}.${errorId}`, `the error ${error} of '${name}'`, data, 'output');
    return [errorId, { summary: `The error ${error}`, payload: failureSchema(error, data, schema) }];
  });
  const sends = kind === 'upload' || kind === 'channel';
  const what = kind === 'request' || kind === 'upload' ? 'reply' : 'item';
  return {
    asked: {
      open: {
        summary: 'The payload that opens the stream',
        payload: openSchema(name, opened, isPlain || (payload !== undefined && isOptional(payload))),
      },
      ...(sends ? { input: { summary: 'A value of the caller', payload: schemaOf('input', input, 'input') ?? NOTHING } } : {}),
    },
    answered: {
      [what]: {
        summary: what === 'reply' ? 'The answer' : 'A value of the answer',
        payload: schemaOf(what, reply ?? item, 'output') ?? NOTHING,
      },
      ...Object.fromEntries(failures),
    },
  };
}

/** A reply without a value. */
const NOTHING: JsonSchema = { type: 'null' };

/** The payload of an open: the name, and the value if there is one. */
function openSchema(name: string, payload: JsonSchema | null, mayLack: boolean): JsonSchema {
  const items = [{ const: name }, ...(payload === null ? [] : [payload])];
  return { type: 'array', items, minItems: mayLack ? 1 : items.length, maxItems: items.length };
}

/** The payload of the reset of a declared error. */
function failureSchema(name: string, declared: StandardSchemaV1, data: JsonSchema | null): JsonSchema {
  const needsData = data !== null && !isOptional(declared);
  return {
    type: 'object',
    properties: { name: { const: name }, message: { type: 'string' }, declared: { const: true }, ...(data === null ? {} : { data }) },
    required: ['name', 'message', ...(needsData ? ['data'] : [])],
  };
}

/** Collects the schemas of a document. */
class Schemas {
  readonly all: Record<string, JsonSchema> = {};
  readonly missing: string[] = [];

  constructor(private readonly api: Api) {}

  /** Returns a reference to a schema; `null` for no value. */
  add(id: string, what: string, schema: StandardSchemaV1 | undefined, side: Side): JsonSchema | null {
    if (schema === undefined || isNothing(schema)) return null;
    const $ref = `#/components/schemas/${id}`;
    try {
      this.all[id] = movedTo($ref, jsonSchemaOf(schema, side, this.api.file));
      return { $ref };
    } catch (error) {
      this.refuse(what, (error as Error).message);
      return {};
    }
  }

  /** Notes a value that has no JSON Schema. */
  refuse(what: string, why: string): void {
    if (!this.api.any) this.missing.push(`${what}: ${why}`);
  }
}
