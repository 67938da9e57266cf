import { createRequire } from 'node:module';
import type { StandardSchemaV1 } from 'rxmux/contract';

/** A JSON Schema of draft 7, which AsyncAPI takes. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The value that a sender passes, or the value that the schema makes of it. */
export type Side = 'input' | 'output';

/** The converter of a schema. zod and arktype have it as a member: https://standardschema.dev/json-schema. */
type Converter = Readonly<Record<Side, (options: { readonly target: string }) => JsonSchema>>;

/** The package of valibot that converts. */
const VALIBOT_PACKAGE = '@valibot/to-json-schema';

interface ValibotConverter {
  toJsonSchema(schema: StandardSchemaV1, options: { readonly typeMode: Side; readonly target: string }): JsonSchema;
}

const TARGET = 'draft-07';

/**
 * Converts a schema by its own library.
 *
 * @param file the module of the schema: packages of converters are looked for beside it
 * @throws Error for a schema without a converter, and for one that JSON Schema cannot express
 */
export function jsonSchemaOf(schema: StandardSchemaV1, side: Side, file: string): JsonSchema {
  const { vendor, jsonSchema } = schema['~standard'] as StandardSchemaV1['~standard'] & { readonly jsonSchema?: Converter };
  if (jsonSchema !== undefined) return jsonSchema[side]({ target: TARGET });
  if (vendor === 'valibot') return valibotAt(file).toJsonSchema(schema, { typeMode: side, target: TARGET });
  if (vendor === 'rxmux') throw new Error('a plain type has no schema');
  throw new Error(`this schema of ${vendor} has no converter to JSON Schema: zod has one from 4.2 on, arktype from 2.1.28 on`);
}

function valibotAt(file: string): ValibotConverter {
  try {
    return createRequire(file)(VALIBOT_PACKAGE) as ValibotConverter;
  } catch (error) {
    throw new Error(`valibot needs the package ${VALIBOT_PACKAGE}: npm install ${VALIBOT_PACKAGE}`, { cause: error });
  }
}

/** Whether a schema of zod, valibot or arktype stands for no value, such as `z.void()`. JSON Schema has no form for it. */
export function isNothing(schema: StandardSchemaV1): boolean {
  const { type, def, expression } = schema as {
    readonly type?: unknown;
    readonly def?: { readonly type?: unknown };
    readonly expression?: unknown;
  };
  return [type, def?.type, expression].some((name) => name === 'void' || name === 'undefined');
}

/** Whether a value may be left out. */
export function isOptional(schema: StandardSchemaV1): boolean {
  try {
    const verdict = schema['~standard'].validate(undefined);
    // A check that takes time shows nothing at once, and may fail later.
    if (verdict instanceof Promise) verdict.catch(() => undefined);
    return 'value' in verdict && verdict.issues === undefined;
  } catch {
    return false;
  }
}

/** Moves a schema to another place of a document: its references lead there. */
export function movedTo(place: string, schema: JsonSchema): JsonSchema {
  const { $ref, ...others } = moved(place, schema) as Record<string, unknown>;
  delete others['$schema'];
  // Draft 7 ignores all that stands beside a reference.
  return $ref === undefined ? others : { allOf: [{ $ref }], ...others };
}

function moved(place: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => moved(place, each));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, unknown]) => {
      const isReference = key === '$ref' && typeof inner === 'string' && inner.startsWith('#');
      return [key, isReference ? `${place}${inner.slice(1)}` : moved(place, inner)];
    }),
  );
}
