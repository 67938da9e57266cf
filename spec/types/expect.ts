/** True where both types are the same one, also in what is optional and readonly. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Whether a value of type `Value` may be passed where `Target` is expected. */
export type Accepts<Target, Value> = [Value] extends [Target] ? true : false;

/** Fails to compile unless it is given `true`. */
export type Expect<T extends true> = T;

/** Fails to compile unless it is given `false`. */
export type Refuse<T extends false> = T;
