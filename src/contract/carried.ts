import type { Procedure } from './procedure.js';

/** The name of a codec: ours, or one of your own. A contract for one of your own keeps every type, because it may carry every value. */
export type CodecName = 'json' | 'msgpack' | 'rich' | (string & Record<never, never>);

type Bytes = ArrayBuffer | ArrayBufferView;
type Collection = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | bigint;

/** A contract for another codec than `json`. */
export type Over<C, K> = { readonly [N in keyof C]: C[N] extends Procedure ? C[N] & OverCodec<K> : Over<C[N], K> };

/** Marks a procedure whose contract names its codec. */
export interface OverCodec<K> {
  /** Exists for inference only. */
  readonly '~codec': K;
}

/** The codec of a procedure. Without a mark it is `json`. */
export type CodecIn<X> = X extends OverCodec<infer K> ? K : 'json';

/** Values beyond JSON that a codec keeps as they are. */
type Kept<K> = K extends 'json' ? never : K extends 'msgpack' ? Date : undefined | (K extends 'rich' ? Date | Collection : object | bigint);

/** Values that a codec refuses at their sender. */
type Refused<K> = K extends 'json' ? Bytes | Collection | Blob : K extends 'msgpack' ? Collection | Blob : K extends 'rich' ? Blob : never;

/** A plain type as its sender passes it: a text of the compiler where the codec refuses a part of it. */
export type Sendable<T, K> = [T] extends [Allowed<T, Refused<K>>] ? T : Uncarried<K>;

/** A plain type as it arrives. Most types arrive as they are, and keep their names. */
export type Carried<T, K> = [T] extends [Unchanged<T, Kept<K>, Refused<K>>]
  ? T
  : [T] extends [Allowed<T, Refused<K>>]
    ? Arrived<T, Kept<K>>
    : Uncarried<K>;

/** A plain type as it arrives, where `undefined` arrives as `Nothing`. */
export type CarriedOr<T, K, Nothing> = [undefined, Nothing] extends [T, null] ? OrNull<Carried<T, K>> : Carried<T, K>;

type OrNull<T> = T extends undefined ? null : T;

/** A schema's type as it arrives, where `undefined` arrives as `Nothing`. */
export type ArrivedOver<T, K, Nothing> = T extends undefined ? Nothing : Arrived<T, Kept<K>>;

/** Says in an error of the compiler what a codec lacks. */
type Uncarried<K> =
  `the codec ${K & string} carries no ${K extends 'json' ? 'bytes, ' : ''}Map, Set, bigint or Blob: name another, as contract({ … }, { codec: 'rich' })`;

/** Values that every codec carries as they are. The methods of a class count, too: no codec carries them. */
type Flat = string | number | boolean | symbol | null | undefined | ((...args: never) => unknown);

/** A type as it arrives, part by part. */
type Arrived<T, Kept> = T extends Flat | Kept
  ? T
  : T extends Bytes
    ? Uint8Array
    : T extends { toJSON(key: never): infer Json }
      ? Arrived<Json, Kept>
      : T extends readonly unknown[]
        ? ArrivedList<T, Kept>
        : T extends object
          ? { [N in keyof T]: Arrived<T[N], Kept> }
          : T;

/** Not a mapped type: TypeScript maps an array at once, and would never end with a type that holds an array of itself. */
type ArrivedList<T extends readonly unknown[], Kept> = number extends T['length']
  ? T extends unknown[]
    ? Listed<T[number], Kept>[]
    : readonly Listed<T[number], Kept>[]
  : { [N in keyof T]: Listed<T[N], Kept> };

/** `undefined` arrives as `null` in a list, unless the codec keeps it. An object's key without a value is left out. */
type Listed<T, Kept> = T extends undefined ? (undefined extends Kept ? T : null) : Arrived<T, Kept>;

/**
 * A type without the values that arrive as other ones, or not at all. `Arrived` cannot show that: a Buffer extends the Uint8Array that arrives in
 * its place.
 */
type Unchanged<T, Kept, Refused> = T extends Flat | Kept
  ? T
  : T extends Refused
    ? never
    : T extends Bytes | { toJSON(key: never): unknown }
      ? T extends Uint8Array
        ? keyof T extends keyof Uint8Array
          ? T
          : never
        : never
      : T extends readonly unknown[]
        ? readonly UnchangedInList<T[number], Kept, Refused>[]
        : T extends object
          ? { [N in keyof T]: Unchanged<T[N], Kept, Refused> }
          : T;

type UnchangedInList<T, Kept, Refused> = T extends undefined ? (undefined extends Kept ? T : never) : Unchanged<T, Kept, Refused>;

/** A type without the values that a codec refuses. A type that holds one does not extend it. */
type Allowed<T, Refused> = T extends Flat
  ? T
  : T extends Refused
    ? never
    : T extends { toJSON(key: never): unknown }
      ? T
      : T extends readonly unknown[]
        ? readonly Allowed<T[number], Refused>[]
        : T extends object
          ? { [N in keyof T]: Allowed<T[N], Refused> }
          : T;
