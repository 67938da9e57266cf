import { DEFAULT_LIMITS } from '../../src/wire/limits.js';
import type { Rate } from '../../src/util/time.js';

const MIB = 1024 ** 2;

/** A number with its thousands apart. */
export function grouped(value: number, gap = ' '): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, gap);
}

/** A limit as tables of the pages spell it. */
export function spelledLimit(name: string, value: number | Rate): string {
  if (typeof value === 'object') return `${value.burst}, ${value.perSecond}/s`;
  if (name.endsWith('Ms')) return `${value / 1_000} s`;
  return name.endsWith('Bytes') ? spelledBytes(value) : String(value);
}

/** A default as docstrings spell it; `null` for one that only words can say. */
export function spelledDefault(name: string, value: unknown): string | null {
  if (typeof value === 'boolean') return `\`${value}\``;
  if (typeof value === 'string') return `\`'${value}'\``;
  if (typeof value === 'number') return name.endsWith('Bytes') && value % MIB === 0 ? spelledBytes(value) : grouped(value);
  return value !== null && typeof value === 'object' ? spelledObject(value) : null;
}

function spelledObject(value: object): string {
  if (value === DEFAULT_LIMITS) return '`DEFAULT_LIMITS`';
  if ('perSecond' in value) return `${grouped(Number((value as Rate).burst))}, ${(value as Rate).perSecond} per second`;
  const fields = Object.entries(value).map(([name, of]) => `${name}: ${Number(of) < 1_000 ? of : grouped(Number(of), '_')}`);
  return `\`{ ${fields.join(', ')} }\``;
}

function spelledBytes(value: number): string {
  return value < MIB ? `${value / 1024} KiB` : `${value / MIB} MiB`;
}
