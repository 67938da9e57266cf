/** A thenable that is no Promise, as query builders and older promise libraries return it. */
export interface Thenable<T> extends PromiseLike<T> {
  /** A part that must never be sent. */
  readonly password: string;
}

/** Counts how often a thenable has started its work: some start it at each `then`. */
export interface Work {
  starts: number;
}

type Make = <T>(run: () => T, work?: Work) => Thenable<T>;

/** Starts its work at each `then`, as a query of knex or drizzle-orm does. */
class Query<T> implements Thenable<T> {
  readonly password = 's3cret';

  readonly #run: () => T;
  readonly #work: Work;

  constructor(run: () => T, work: Work) {
    this.#run = run;
    this.#work = work;
  }

  then<A, B>(resolved?: ((value: T) => A | PromiseLike<A>) | null, rejected?: ((error: unknown) => B | PromiseLike<B>) | null) {
    this.#work.starts++;
    return Promise.resolve().then(this.#run).then(resolved, rejected);
  }
}

/** Keeps its state in private fields, so that `then` throws for any other `this`. */
class Deferred<T> implements Thenable<T> {
  readonly password = 's3cret';
  readonly #result: Promise<T>;

  constructor(run: () => T, work: Work) {
    work.starts++;
    this.#result = Promise.resolve().then(run);
    this.#result.catch(() => undefined);
  }

  then<A, B>(resolved?: ((value: T) => A | PromiseLike<A>) | null, rejected?: ((error: unknown) => B | PromiseLike<B>) | null) {
    return this.#result.then(resolved, rejected);
  }
}

const makeQuery: Make = (run, work = { starts: 0 }) => new Query(run, work);

/** Makes each kind of thenable. The name says what sets it apart from a Promise. */
export const THENABLES: readonly { readonly kind: string; readonly make: Make }[] = [
  { kind: 'a query that starts at each `then`', make: makeQuery },
  { kind: 'a class with private fields', make: (run, work = { starts: 0 }) => new Deferred(run, work) },
  {
    kind: 'a function with a `then`',
    make(run, work) {
      const query = makeQuery(run, work);
      const called = (): never => {
        throw new Error('the thenable was called');
      };
      return Object.assign(called, { password: query.password, then: query.then.bind(query) });
    },
  },
  {
    kind: 'a Proxy that has no `then` and returns one',
    make(run, work) {
      const query = makeQuery(run, work);
      const target = { password: query.password } as Thenable<ReturnType<typeof run>>;
      return new Proxy(target, {
        get: (object, key): unknown => (key === 'then' ? query.then.bind(query) : object[key as 'password']),
      });
    },
  },
  {
    kind: 'a Proxy that returns a function for every name',
    make(run, work) {
      const query = makeQuery(run, work);
      const target = { password: query.password } as Thenable<ReturnType<typeof run>>;
      return new Proxy(target, { get: (_, key) => (key === 'then' ? query.then.bind(query) : () => undefined) });
    },
  },
];
