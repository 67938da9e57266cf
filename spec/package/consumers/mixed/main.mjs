// An ES module imports the package and a CommonJS module requires it. Both must receive the same objects.
import assert from 'node:assert/strict';
import * as imported from 'rxmux';
import { MsgpackCodec } from 'rxmux/msgpack';
import required from './required.cjs';

assert.equal(required.root.ABSENT, imported.ABSENT);
assert.equal(required.root.settings, imported.settings);
assert.equal(required.root.Peer, imported.Peer);
assert.equal(required.msgpack.MsgpackCodec, MsgpackCodec);
imported.registerCodec('mine', new MsgpackCodec());
assert.equal(required.root.getCodec('mine'), imported.getCodec('mine'));
assert.deepEqual(required.root.registeredCodecs(), ['json', 'mine']);
console.log('one instance');
