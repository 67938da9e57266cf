import { JsonCodec } from './json.js';
import { registerCodec } from './registry.js';

registerCodec('json', new JsonCodec());
