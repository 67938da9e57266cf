/**
 * Whether a parsed value is nested deeper than so many levels. `JSON.parse` accepts any depth. Searching its text for brackets outside of
 * strings before parsing would cost five times as much.
 *
 * @param text the source text; n levels need 2n characters, so a short text passes at once
 */
export function isTooDeep(value: unknown, levels: number, text: string): boolean {
  return text.length > 2 * levels && isObject(value) && isDeeper(value, levels);
}

function isDeeper(value: Readonly<Record<string, unknown>>, levels: number): boolean {
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isObject(item) && isDeeper(item, levels - 1));
  for (const key in value) {
    const item = value[key];
    if (isObject(item) && isDeeper(item, levels - 1)) return true;
  }
  return false;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
