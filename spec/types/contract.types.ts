import type { StandardSchemaV1 as SpecifiedSchema } from '@standard-schema/spec';
import type { IncomingMessage } from 'node:http';
import type { Observable } from 'rxjs';
import { of } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { z } from 'zod';
import { answering, channel, client, contract, fail, isFailure, plain, request, stream, upload, whenError } from '../../src/contract.js';
import type {
  Answers,
  Call,
  Client,
  ContextOf,
  Item,
  NamesOf,
  Payload,
  Reply,
  RequestCall,
  StandardSchemaV1,
  StreamCall,
} from '../../src/contract.js';
import type { Peer, PeerContext } from '../../src/index.js';
import { serve } from '../../src/node.js';
import type { UpgradeRefusal } from '../../src/node.js';
import { createPair, fakePeer } from '../../src/testing.js';
import type { Accepts, Equal, Expect, Refuse } from './expect.js';

declare const peer: Peer;
declare const helpers: RunHelpers;

interface User {
  readonly name: string;
}

const api = contract({
  square: request<{ n: number }, number>(),
  now: request<void, string>(),
  book: request({
    payload: z.object({ seat: z.string().default('1A') }),
    reply: z.string().transform((text) => text.length),
    errors: { TAKEN: z.object({ by: z.string() }), CLOSED: plain<void>() },
  }),
  chat: {
    lines: stream<{ room: string }, string, { GONE: { room: string } }>(),
    deep: { say: upload({ input: z.coerce.number(), reply: plain<boolean>() }) },
  },
  both: channel<string, number, Date>(),
});
type Api = typeof api;
type AnyApi = Answers<Api, User>;

const calls = client(peer, api);
const checked = client(peer, api, { validate: true });

export type SchemasAreThoseOfTheSpecification = [
  Expect<Accepts<StandardSchemaV1<string, number>, SpecifiedSchema<string, number>>>,
  Expect<Accepts<SpecifiedSchema<string, number>, StandardSchemaV1<string, number>>>,
  Refuse<Accepts<SpecifiedSchema<string, number>, StandardSchemaV1<string>>>,
];

export type CallersSeeTheirSide = [
  Expect<Equal<typeof calls.square, RequestCall<{ n: number }, number>>>,
  Expect<Equal<Parameters<typeof calls.book>[0], { seat?: string | undefined }>>,
  Expect<Equal<ReturnType<typeof calls.book>, Observable<number>>>,
  Expect<Equal<ReturnType<typeof checked.book>, Observable<number>>>,
  Expect<Equal<ReturnType<typeof checked.book.promise>, Promise<number>>>,
  Expect<Equal<typeof calls.chat.lines, StreamCall<{ room: string }, string>>>,
  Expect<Equal<Awaited<ReturnType<typeof calls.chat.deep.say.promise>>, boolean>>,
  Expect<Equal<ReturnType<typeof calls.both>, Observable<string>>>,
  Expect<Equal<typeof calls, Client<Api>>>,
];

export type AnswersSeeTheirs = [
  Expect<Equal<Parameters<AnyApi['book']>[0], { seat: string }>>,
  Expect<Equal<Parameters<AnyApi['book']>[1], Call<never, User>>>,
  Expect<Equal<Parameters<AnyApi['chat']['deep']['say']>[1], Call<number, User>>>,
  Expect<Accepts<ReturnType<AnyApi['square']>, Promise<number>>>,
  Refuse<Accepts<ReturnType<AnyApi['square']>, string>>,
  Expect<Accepts<ReturnType<AnyApi['both']>, AsyncIterable<Date>>>,
];

export type Names = [Expect<Equal<NamesOf<Api>, 'square' | 'now' | 'book' | 'chat.lines' | 'chat.deep.say' | 'both'>>];

declare const untypedSchemas: Readonly<Record<'payload' | 'reply', ReturnType<typeof JSON.parse>>>;
const anyAndNever = contract({ any: request<never, ReturnType<typeof JSON.parse>>(), untyped: request(untypedSchemas) });
const ofAny = client(peer, anyAndNever);
type Any = Awaited<ReturnType<typeof ofAny.any.promise>>;

export type SpecialTypesStay = [
  Expect<Equal<Parameters<typeof ofAny.any>[0], never>>,
  Expect<Accepts<string, Any>>,
  Expect<Accepts<Any, number>>,
  Expect<Accepts<Parameters<typeof ofAny.untyped>[0], { n: number }>>,
  Expect<Equal<Awaited<ReturnType<typeof ofAny.untyped.promise>>, Any>>,
];

// Without a payload, and without data, no argument is needed.
calls.now().subscribe();
void calls.now.promise(undefined, { timeoutMs: 5 });
fail(api.book, 'CLOSED');
fail(api.book, 'TAKEN', { by: 'ann' });

const caught$ = calls.chat.lines({ room: 'a' }).pipe(whenError(api.chat.lines, 'GONE', ({ room }) => of(room.length)));
const invalid$ = calls.square({ n: 1 }).pipe(whenError(api.square, 'INVALID', (issues) => of(issues)));
declare const thrown: unknown;
const by = isFailure(api.book, 'TAKEN', thrown) ? thrown.payload.data : null;

export type ErrorsAreTyped = [
  Expect<Equal<typeof caught$, Observable<string | number>>>,
  Expect<Equal<typeof by, { by: string } | null>>,
  Expect<Accepts<typeof invalid$, Observable<number>>>,
];

const verify = ({ headers }: IncomingMessage) =>
  headers.cookie === undefined ? (401 as const) : Promise.resolve({ name: headers.cookie });
const mine = contract({ me: request<void, string>() });
serve({ port: 0, ...answering(mine, { me: (_, { context }) => context.name.toUpperCase() }, { verify }) });
serve({ port: 0, ...answering(mine, { me: () => 'you' }) });

export type Contexts = [
  Expect<Equal<ContextOf<typeof verify>, { name: string }>>,
  Expect<Equal<ContextOf<() => User | 403 | UpgradeRefusal>, User>>,
  Expect<Equal<ContextOf<() => boolean>, PeerContext>>,
];

const fake = fakePeer(helpers, api, { 'chat.lines': ['--a|', { a: 'line' }], square: '--a|' }, { values: { a: 4 } });
const pair = createPair(mine, { me: () => 'you' }, { validate: true });

export type Tests = [
  Expect<Equal<keyof typeof fake.answers, 'chat.lines' | 'square'>>,
  Expect<Equal<ReturnType<typeof pair.calls.me>, Observable<string>>>,
  Expect<Accepts<Peer, ReturnType<typeof createPair>['dialer']>>,
];

interface Price {
  readonly symbol: string;
  readonly tags: readonly string[];
}

interface Tree {
  readonly name: string;
  readonly children: readonly Tree[];
}

type Json = null | string | number | Json[] | { [key: string]: Json };

class Money {
  readonly #unit = 100;
  constructor(readonly cents: number) {}
  add(other: Money): Money {
    return new Money(this.cents + other.cents / this.#unit);
  }
}

class Account {
  constructor(
    readonly name: string,
    readonly password: string,
  ) {}
  toJSON(): { name: string } {
    return { name: this.name };
  }
}

interface Dated {
  at: Date | null;
  list: { on: Date; n?: number }[];
  pair: [Date, number];
  url: URL;
}

interface DatedAsJson {
  at: string | null;
  list: { on: string; n?: number }[];
  pair: [string, number];
  url: string;
}

const overJson = contract({
  price: request<Price, Price>(),
  tree: request<Tree, Tree>(),
  json: request<Json, Json>(),
  money: request<void, Money>(),
  account: request<Account, { of: Account }>(),
  found: request<number, User | undefined>(),
  paid: request<number, Money | undefined>(),
  checkedFound: request({ reply: z.string().optional() }),
  each: request<readonly (User | undefined)[], { of: (User | undefined)[]; pair: [string | undefined, number] }>(),
  checkedEach: stream({ item: z.array(z.string().optional()) }),
  loose: request<unknown[], { all: readonly unknown[] }>(),
  nothing: upload<void, number>(),
  unknown: request<unknown, unknown>(),
  dated: request<Dated, Dated, { LATE: { at: Date } }>(),
  checked: request({ payload: z.object({ at: z.coerce.date() }), reply: z.object({ at: z.coerce.date(), n: z.number() }) }),
  map: request<Map<string, number>, Map<string, number>>(),
  deep: stream<void, { ids: { n: bigint }[] }>(),
  bytes: upload<void, Uint8Array, number>(),
});
type OverJson = typeof overJson;
const jsonCalls = client(peer, overJson);
const checkingJson = client(peer, overJson, { validate: true });
const late = isFailure(overJson.dated, 'LATE', thrown) ? thrown.payload.data.at : null;

export type TypesOverJsonSayWhatArrives = [
  Expect<Equal<typeof jsonCalls.price, RequestCall<Price, Price>>>,
  Expect<Equal<ReturnType<typeof jsonCalls.tree>, Observable<Tree>>>,
  Expect<Equal<ReturnType<typeof jsonCalls.json>, Observable<Json>>>,
  Expect<Equal<ReturnType<typeof jsonCalls.money>, Observable<Money>>>,
  Expect<Equal<ReturnType<typeof jsonCalls.unknown>, Observable<unknown>>>,
  // Another type than the sender's, although the sender's extends it.
  Expect<Equal<Parameters<typeof jsonCalls.account>[0], Account>>,
  Expect<Equal<Parameters<Answers<OverJson>['account']>[0], { name: string }>>,
  Expect<Equal<ReturnType<typeof jsonCalls.account>, Observable<{ of: { name: string } }>>>,
  Expect<Accepts<Awaited<ReturnType<typeof jsonCalls.dated.promise>>, DatedAsJson>>,
  Expect<Accepts<DatedAsJson, Awaited<ReturnType<typeof jsonCalls.dated.promise>>>>,
  Expect<Equal<Parameters<typeof jsonCalls.dated>[0], Dated>>,
  Expect<Accepts<Parameters<Answers<OverJson>['dated']>[0], DatedAsJson>>,
  Expect<Accepts<ReturnType<Answers<OverJson>['dated']>, Dated>>,
  Expect<Equal<typeof late, string | null>>,
  // A schema makes a date of the text that arrives, where it runs.
  Expect<Equal<Parameters<Answers<OverJson>['checked']>[0], { at: Date }>>,
  Expect<Equal<ReturnType<typeof jsonCalls.checked>, Observable<{ at: string; n: number }>>>,
  Expect<Equal<ReturnType<typeof checkingJson.checked>, Observable<{ at: Date; n: number }>>>,
];

export type AReplyWithoutAValueArrivesAsNull = [
  Expect<Equal<Awaited<ReturnType<typeof jsonCalls.found.promise>>, User | null>>,
  Expect<Equal<ReturnType<typeof jsonCalls.paid>, Observable<Money | null>>>,
  Expect<Equal<ReturnType<typeof jsonCalls.checkedFound>, Observable<string | null>>>,
  Expect<Equal<ReturnType<typeof checkingJson.found>, Observable<User | null>>>,
  Expect<Equal<ReturnType<typeof checkingJson.checkedFound>, Observable<string | undefined>>>,
  Expect<Equal<Awaited<ReturnType<typeof jsonCalls.nothing.promise>>, void>>,
  Expect<Equal<Reply<OverJson['found']>, User | null>>,
  Expect<Accepts<ReturnType<Answers<OverJson>['found']>, User | undefined>>,
];

export type NothingInAListArrivesAsNull = [
  Expect<Equal<Awaited<ReturnType<typeof jsonCalls.each.promise>>, { of: (User | null)[]; pair: [string | null, number] }>>,
  Expect<Equal<Parameters<Answers<OverJson>['each']>[0], readonly (User | null)[]>>,
  Expect<Equal<Parameters<typeof jsonCalls.each>[0], readonly (User | undefined)[]>>,
  Expect<Equal<ReturnType<typeof jsonCalls.checkedEach>, Observable<(string | null)[]>>>,
  Expect<Equal<ReturnType<typeof checkingJson.checkedEach>, Observable<(string | undefined)[]>>>,
  Expect<Equal<typeof jsonCalls.loose, RequestCall<unknown[], { all: readonly unknown[] }>>>,
  Expect<Equal<ReturnType<typeof packedCalls.each>, Observable<(number | null)[]>>>,
  Expect<Equal<ReturnType<typeof richCalls.each>, Observable<(number | undefined)[]>>>,
  Expect<Equal<ReturnType<typeof ownCalls.each>, Observable<(number | undefined)[]>>>,
];

export type TypesOverJsonRefuseWhatItDoesNotCarry = [
  Refuse<Accepts<Parameters<typeof jsonCalls.map>[0], Map<string, number>>>,
  Refuse<Accepts<ReturnType<Answers<OverJson>['map']>, Map<string, number>>>,
  Refuse<Accepts<Awaited<ReturnType<typeof jsonCalls.map.promise>>, Map<string, number>>>,
  Refuse<Accepts<ReturnType<Answers<OverJson>['deep']>, { ids: { n: bigint }[] }[]>>,
  Refuse<Accepts<Parameters<typeof jsonCalls.bytes>[1], Uint8Array[]>>,
];

const packed = contract(
  {
    at: request<Date, { at: Date; bytes: Uint8Array }>(),
    map: request<void, Map<string, number>>(),
    deep: { put: upload<void, Uint8Array>() },
    buffers: upload<void, Buffer, { slice: Buffer; all: Buffer[] }>(),
    fixed: request<void, { slice: Uint8Array<ArrayBuffer> }>(),
    each: request<void, (number | undefined)[]>(),
  },
  { codec: 'msgpack' },
);
const rich = contract(
  { all: request<bigint, { map: Map<string, Set<Date>>; bytes: Uint8Array }>(), each: request<void, (number | undefined)[]>() },
  { codec: 'rich' },
);
const own = contract(
  { all: request<bigint, { url: URL; map: Map<string, bigint> }>(), each: request<void, (number | undefined)[]>() },
  { codec: 'cbor' },
);
const packedCalls = client(peer, packed);
const richCalls = client(peer, rich);
const ownCalls = client(peer, own);

export type OtherCodecsKeepWhatTheyCarry = [
  Expect<Equal<typeof packedCalls.at, RequestCall<Date, { at: Date; bytes: Uint8Array }>>>,
  Expect<Equal<Parameters<Answers<typeof packed>['at']>[0], Date>>,
  Expect<Accepts<Parameters<typeof packedCalls.deep.put>[1], Uint8Array[]>>,
  // A Buffer extends Uint8Array, and arrives as one.
  Expect<Equal<Parameters<Answers<typeof packed>['buffers']>[1], Call<Uint8Array>>>,
  Expect<Equal<Awaited<ReturnType<typeof packedCalls.buffers.promise>>, { slice: Uint8Array; all: Uint8Array[] }>>,
  Expect<Equal<ReturnType<typeof packedCalls.fixed>, Observable<{ slice: Uint8Array<ArrayBuffer> }>>>,
  Refuse<Accepts<ReturnType<Answers<typeof packed>['map']>, Map<string, number>>>,
  Expect<Equal<typeof richCalls.all, RequestCall<bigint, { map: Map<string, Set<Date>>; bytes: Uint8Array }>>>,
  Expect<Equal<typeof ownCalls.all, RequestCall<bigint, { url: URL; map: Map<string, bigint> }>>>,
  Expect<Equal<NamesOf<typeof packed>, 'at' | 'map' | 'deep.put' | 'buffers' | 'fixed' | 'each'>>,
];

export type TypesOfAProcedure = [
  Expect<Equal<Payload<Api['square']>, { n: number }>>,
  Expect<Equal<Payload<Api['book']>, { seat?: string | undefined }>>,
  Expect<Equal<Payload<Api['chat']['deep']['say']>, void>>,
  Expect<Equal<Reply<Api['book']>, number>>,
  Expect<Equal<Reply<OverJson['checked']>, { at: string; n: number }>>,
  Expect<Equal<Reply<(typeof rich)['all']>, { map: Map<string, Set<Date>>; bytes: Uint8Array }>>,
  Expect<Equal<Item<Api['chat']['lines']>, string>>,
  Expect<Equal<Item<Api['both']>, string>>,
];

// @ts-expect-error A stream has items, and no reply.
export type ReplyOfAStream = Reply<Api['chat']['lines']>;
// @ts-expect-error A request has a reply, and no items.
export type ItemOfARequest = Item<Api['square']>;
