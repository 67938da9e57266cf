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
