import { once } from 'node:events';
import { getHeapSnapshot } from 'node:v8';

/** Objects of one class, and their own size in bytes. */
export interface HeapClass {
  readonly name: string;
  readonly count: number;
  readonly bytes: number;
}

/** The parts of a heap snapshot that this module reads. */
export interface Snapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: readonly string[]; readonly node_types: readonly [readonly string[], ...unknown[]] };
  };
  /** A row of `node_fields` for each object, one after the other. */
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** Takes a heap snapshot of this process, and sums it up. */
export async function heapClasses(): Promise<HeapClass[]> {
  const stream = getHeapSnapshot();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stream, 'end');
  return summed(JSON.parse(Buffer.concat(chunks).toString()) as Snapshot);
}

/** Sums a snapshot up by class. Functions count by their name, and the engine's own objects by their kind. */
export function summed({ snapshot: { meta }, nodes, strings }: Snapshot): HeapClass[] {
  const { node_fields, node_types } = meta;
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => node_fields.indexOf(field)) as [number, number, number];
  const found = new Map<string, { count: number; bytes: number }>();
  for (let row = 0; row < nodes.length; row += node_fields.length) {
    const title = titleOf(node_types[0][nodes[row + type] ?? 0] ?? '', strings[nodes[row + name] ?? 0] ?? '');
    const sum = found.get(title) ?? { count: 0, bytes: 0 };
    sum.count++;
    sum.bytes += nodes[row + size] ?? 0;
    found.set(title, sum);
  }
  return [...found].map(([title, sum]) => ({ name: title, ...sum }));
}

/** The growth between two looks, divided by `per` things. Lists classes with at least one object for ten things, the largest first. */
export function grown(before: readonly HeapClass[], after: readonly HeapClass[], per: number): HeapClass[] {
  const then = new Map(before.map((each) => [each.name, each]));
  return after
    .map(({ name, count, bytes }) => ({
      name,
      count: (count - (then.get(name)?.count ?? 0)) / per,
      bytes: (bytes - (then.get(name)?.bytes ?? 0)) / per,
    }))
    .filter(({ count, bytes }) => count >= 0.1 && bytes > 0)
    .sort((a, b) => b.bytes - a.bytes);
}

function titleOf(type: string, name: string): string {
  if (type === 'object') return name;
  if (type === 'closure') return `function ${name === '' ? '(anonymous)' : name}`;
  return `(${type})`;
}
