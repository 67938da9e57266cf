import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import { JsonCodec } from '../../../src/index.js';
import type { Codec } from '../../../src/index.js';
import { MsgpackCodec } from '../../../src/msgpack.js';
import { RichCodec } from '../../../src/rich.js';
import { watchResources } from '../../support/socket/leaks.js';
import { LINE_KINDS } from '../../support/socket/lines.js';
import type { Line, LineKind, LineOptions } from '../../support/socket/lines.js';

type Join = (options?: Omit<LineOptions, 'codec'>) => Promise<Line>;

/** Runs tests of the transport contract through two peers, on every line and with each codec. A line may leak nothing. */
export function onEveryLine(title: string, holds: (join: Join, kind: LineKind, codec: Codec) => void): void {
  describe.each(LINE_KINDS)(`${title}: $name`, (kind) => {
    describe.each([new JsonCodec(), new MsgpackCodec(), new RichCodec()])('with $name', (codec) => {
      let lines: Line[] = [];
      let leaks: ReturnType<typeof watchResources>;

      beforeEach(() => {
        lines = [];
        leaks = watchResources();
      });

      afterEach(async () => {
        await Promise.all(lines.map((line) => line.dispose()));
        expect(await leaks()).toEqual({});
      });

      const join: Join = async (options) => {
        const line = await kind.join({ codec, ...options });
        lines.push(line);
        return line;
      };
      holds(join, kind, codec);
    });
  });
}
