/** True when both types are identical, including optional and readonly. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** True when a value of type `Value` may be passed as `Target`. */
export type Accepts<Target, Value> = [Value] extends [Target] ? true : false;

/** Fails to compile unless its argument is `true`. */
export type Expect<T extends true> = T;

/** Fails to compile unless its argument is `false`. */
export type Refuse<T extends false> = T;
