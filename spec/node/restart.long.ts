import { describe } from '@jest/globals';
import { losesNothing } from './restarting.js';

describe('a server that is restarted under load', () => {
  losesNothing(200, 20);
});
