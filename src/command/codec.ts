import { JsonCodec } from 'rxmux';
import type { Codec } from 'rxmux';
import { UsageError } from './exit.js';

/**
 * Returns the codec of the option `--codec`.
 *
 * @throws UsageError for another name, and for msgpack where @msgpack/msgpack is not installed
 */
export async function codecNamed(name: string): Promise<Codec> {
  if (name === 'json') return new JsonCodec();
  if (name === 'rich') return new (await import('rxmux/rich')).RichCodec();
  if (name !== 'msgpack') throw new UsageError(`expected the codec json, rich or msgpack, got '${name}'`);
  const door = await import('rxmux/msgpack').catch(() => null);
  if (door === null) throw new UsageError('expected @msgpack/msgpack to be installed for the codec msgpack');
  return new door.MsgpackCodec();
}
