import type { Carried, CodecIn, Sendable } from './carried.js';

/** The shape of a call: how many values each side sends after the payload. */
export type Kind = 'request' | 'stream' | 'upload' | 'channel';

/** Whether one reply answers a call, and not items. */
export function isReply(kind: Kind): boolean {
  return kind === 'request' || kind === 'upload';
}

/** A procedure of a contract, as a program sees it at run time. Make one with `request`, `stream`, `upload` or `channel`. */
export interface Procedure<Errors extends object = object> {
  /** The shape of the call. */
  readonly kind: Kind;
  /** Checks the payload; `undefined` for a plain type. */
  readonly payload: StandardSchemaV1 | undefined;
  /** Checks each item that the caller sends; `undefined` for a plain type. */
  readonly input: StandardSchemaV1 | undefined;
  /** Checks each reply or item that the answerer sends, before it leaves; `undefined` for a plain type. */
  readonly output: StandardSchemaV1 | undefined;
  /** Checks the data of each declared error, before it leaves; `undefined` for plain types. */
  readonly errors?: Readonly<Record<string, StandardSchemaV1>> | undefined;
  /** Exists for inference only. */
  readonly '~errors'?: Errors;
}

/** One payload, one reply. */
export interface RequestProcedure<Payload, Reply, Errors extends object> extends Procedure<Errors> {
  /** The shape of the call. */
  readonly kind: 'request';
  /** Exists for inference only. */
  readonly '~types'?: readonly [Payload, Reply];
}

/** One payload, many items back. */
export interface StreamProcedure<Payload, Item, Errors extends object> extends Procedure<Errors> {
  /** The shape of the call. */
  readonly kind: 'stream';
  /** Exists for inference only. */
  readonly '~types'?: readonly [Payload, Item];
}

/** One payload and many inputs, one reply. */
export interface UploadProcedure<Payload, Input, Reply, Errors extends object> extends Procedure<Errors> {
  /** The shape of the call. */
  readonly kind: 'upload';
  /** Exists for inference only. */
  readonly '~types'?: readonly [Payload, Reply, Input];
}

/** One payload and many inputs, many items back. */
export interface ChannelProcedure<Payload, Input, Item, Errors extends object> extends Procedure<Errors> {
  /** The shape of the call. */
  readonly kind: 'channel';
  /** Exists for inference only. */
  readonly '~types'?: readonly [Payload, Item, Input];
}

/** A value that the schema `S` checks. The schema may change it, as a text into a date: then its sender and its receiver have two types. */
export interface Checked<S> {
  /** The schema. Exists for inference only. */
  readonly '~schema': S;
}

/**
 * The type that the sender of a value passes.
 *
 * @typeParam Of the procedure of the value, whose contract may name a codec
 */
export type Sent<X, Of = unknown> = unknown extends X ? X : [X] extends [Checked<infer S>] ? TypesOf<S>['input'] : Sendable<X, CodecIn<Of>>;

/**
 * The type that the receiver of a value gets: as its schema makes it, or, of a plain type, as the codec carries it.
 *
 * @typeParam Of the procedure of the value, whose contract may name a codec
 */
export type Received<X, Of = unknown> = unknown extends X
  ? X
  : [X] extends [Checked<infer S>]
    ? TypesOf<S>['output']
    : Carried<X, CodecIn<Of>>;

/** The types of a schema. */
export type TypesOf<S> = S extends StandardSchemaV1 ? NonNullable<S['~standard']['types']> : never;

/** `undefined` stands for no value. A schema without types checks values of any type. */
type ValueOf<S> = unknown extends S ? S : S extends undefined ? void : Checked<S>;

type ErrorValues<E> = E extends undefined ? object : { readonly [N in keyof E]: ValueOf<E[N]> };

type MaybeSchema = StandardSchemaV1 | undefined;
type MaybeSchemas = Readonly<Record<string, StandardSchemaV1>> | undefined;

/**
 * Declares a call with one reply. Pass an object with the schema of each value, from any library of Standard Schema. Without one the
 * types stand between `<` and `>`, and no code checks them at run time.
 *
 * @example
 * ```ts
 * contract({
 *   square: request<{ n: number }, number>(),
 *   book: request({ payload: z.object({ seat: z.string() }), reply: z.string(), errors: { TAKEN: z.object({ by: z.string() }) } }),
 * });
 * ```
 */
export function request<Payload = void, Reply = void, Errors extends object = object>(): RequestProcedure<Payload, Reply, Errors>;
export function request<P extends MaybeSchema = undefined, R extends MaybeSchema = undefined, E extends MaybeSchemas = undefined>(of: {
  readonly payload?: P;
  readonly reply?: R;
  readonly errors?: E;
}): RequestProcedure<ValueOf<P>, ValueOf<R>, ErrorValues<E>>;
export function request(of?: Schemas): Procedure {
  return declare('request', of);
}

/**
 * Declares a call with many items back. Pass an object with the schema of each value. Without one the types stand between `<` and `>`.
 *
 * @example
 * ```ts
 * contract({ prices: stream<{ symbol: string }, number>() });
 * ```
 */
export function stream<Payload, Item, Errors extends object = object>(): StreamProcedure<Payload, Item, Errors>;
export function stream<I extends MaybeSchema, P extends MaybeSchema = undefined, E extends MaybeSchemas = undefined>(of: {
  readonly payload?: P;
  readonly item: I;
  readonly errors?: E;
}): StreamProcedure<ValueOf<P>, ValueOf<I>, ErrorValues<E>>;
export function stream(of?: Schemas): Procedure {
  return declare('stream', of);
}

/**
 * Declares a call that sends many inputs, for one reply. Pass an object with the schema of each value. Without one the types stand between `<` and `>`.
 *
 * @example
 * ```ts
 * contract({ store: upload<{ name: string }, Uint8Array, { bytes: number }>() });
 * ```
 */
export function upload<Payload, Input, Reply = void, Errors extends object = object>(): UploadProcedure<Payload, Input, Reply, Errors>;
export function upload<
  U extends MaybeSchema,
  P extends MaybeSchema = undefined,
  R extends MaybeSchema = undefined,
  E extends MaybeSchemas = undefined,
>(of: {
  readonly payload?: P;
  readonly input: U;
  readonly reply?: R;
  readonly errors?: E;
}): UploadProcedure<ValueOf<P>, ValueOf<U>, ValueOf<R>, ErrorValues<E>>;
export function upload(of?: Schemas): Procedure {
  return declare('upload', of);
}

/**
 * Declares a call that sends many inputs, and gets many items back. Pass an object with the schema of each value. Without one the types stand between `<` and `>`.
 *
 * @example
 * ```ts
 * contract({ chat: channel<{ room: string }, string, { by: string; text: string }>() });
 * ```
 */
export function channel<Payload, Input, Item, Errors extends object = object>(): ChannelProcedure<Payload, Input, Item, Errors>;
export function channel<
  U extends MaybeSchema,
  I extends MaybeSchema,
  P extends MaybeSchema = undefined,
  E extends MaybeSchemas = undefined,
>(of: {
  readonly payload?: P;
  readonly input: U;
  readonly item: I;
  readonly errors?: E;
}): ChannelProcedure<ValueOf<P>, ValueOf<U>, ValueOf<I>, ErrorValues<E>>;
export function channel(of?: Schemas): Procedure {
  return declare('channel', of);
}

const PLAIN = Object.freeze({
  '~standard': Object.freeze({ version: 1, vendor: 'rxmux', validate: (value: unknown) => ({ value }) }),
});

/**
 * Stands for a plain type beside schemas. It accepts every value at run time.
 *
 * @example
 * ```ts
 * request({ payload: z.object({ n: z.number() }), reply: plain<number>() });
 * ```
 */
export function plain<T>(): StandardSchemaV1<T> {
  return PLAIN as StandardSchemaV1<T>;
}

/** The schemas of a procedure, by their public names. */
interface Schemas {
  readonly payload?: MaybeSchema;
  readonly input?: MaybeSchema;
  readonly reply?: MaybeSchema;
  readonly item?: MaybeSchema;
}

/** Keeps a misspelt name, which `answer` refuses: a page that only calls needs no such check. */
function declare(kind: Kind, of?: Schemas): Procedure {
  return Object.freeze({ output: of?.reply ?? of?.item, ...of, kind }) as Procedure;
}

/**
 * A schema of any library that follows the Standard Schema specification, version 1, such as zod, valibot and arktype. The
 * specification allows a copy of its types, so a program needs no other package.
 *
 * @typeParam Input what the schema accepts
 * @typeParam Output what the schema makes of it
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** The members of the specification. */
  readonly '~standard': {
    /** The version of the specification. */
    readonly version: 1;
    /** The library of the schema. */
    readonly vendor: string;
    /** Checks a value. A promise makes the call wait. */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Exists for inference only. */
    readonly types?:
      | {
          /** The type that the schema accepts. */
          readonly input: Input;
          /** The type that the schema makes. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** The verdict of a schema on one value: the value, or the issues. */
export type SchemaResult<Output> =
  | {
      /** The value, as the schema makes it. */
      readonly value: Output;
      /** There are none. */
      readonly issues?: undefined;
    }
  | {
      /** Every reason why the value does not fit. */
      readonly issues: readonly SchemaIssue[];
    };

/** One reason why a value does not fit its schema. */
export interface SchemaIssue {
  /** The reason, for people. */
  readonly message: string;
  /** The keys that lead to the place. Absent for the value itself. */
  readonly path?:
    | readonly (
        | PropertyKey
        | {
            /** The key. */
            readonly key: PropertyKey;
          }
      )[]
    | undefined;
}
