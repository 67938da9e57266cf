import { HOOKS } from './callbacks/hooks.js';
import { INPUTS } from './callbacks/inputs.js';
import { STREAMS } from './callbacks/streams.js';
import { VALUES } from './callbacks/values.js';
import { describeTable } from './table.js';

describeTable([...HOOKS, ...STREAMS, ...INPUTS, ...VALUES], true);
