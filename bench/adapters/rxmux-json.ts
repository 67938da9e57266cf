import { JsonCodec } from 'rxmux';
import { rxmux } from './rxmux.js';

export const adapter = rxmux(() => new JsonCodec());
