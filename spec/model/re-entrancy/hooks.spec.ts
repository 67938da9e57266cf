import { HOOKS } from './callbacks/hooks.js';
import { describeTable } from './table.js';

describeTable(HOOKS);
