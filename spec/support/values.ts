/** A container around a container, `levels` deep; the innermost holds nothing. */
export function nested(levels: number, around: (inner: unknown, level: number) => unknown): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = around(value, level);
  return value;
}

/** What a call throws, as text with its kind: `TypeError: …`; `returns` when it throws nothing. */
export function failureOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return String(error);
  }
  return 'returns';
}
