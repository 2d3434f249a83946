import { z } from 'zod';

/** Schemas whose values must never be printed and may come from a file. A registry survives `.optional()` and `.default()`. */
const secrets = z.registry<{ masked: true }>();

/** Marks a setting as secret: `NAME_FILE` may hold the path of a file with the value, and every print shows `******`. */
export function secret<T extends z.ZodType>(schema: T): T;
export function secret(): z.ZodString;
export function secret(schema: z.ZodType = z.string().min(1)): z.ZodType {
  return schema.register(secrets, { masked: true });
}

interface Wrapped {
  innerType?: z.core.$ZodType;
  in?: z.core.$ZodType;
}

/** True when the schema, or what it wraps, was marked with `secret()`. */
export function isSecret(schema: z.core.$ZodType): boolean {
  if (secrets.has(schema)) return true;
  const wrapped = schema._zod.def as Wrapped;
  const inner = wrapped.innerType ?? wrapped.in;
  return inner !== undefined && isSecret(inner);
}
