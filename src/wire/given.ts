/** What is given of an object whose rest has defaults: `undefined` is not given. */
export type Given<T> = { readonly [Key in keyof T]?: T[Key] | undefined };
