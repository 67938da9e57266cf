/**
 * A schema of any library that follows the Standard Schema specification, version 1, such as zod, valibot and arktype. The
 * specification allows a copy of its types, so a program needs no other package.
 *
 * @typeParam Input what the schema accepts
 * @typeParam Output what the schema makes of it
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Exists for inference only. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The verdict of a schema on one value: the value, or the issues. */
export type SchemaResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** One reason why a value does not fit its schema. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
