import { logger as shared } from '../../logger.js';
import type { Logger } from '../../logger.js';
import { logPeers } from '../log.js';

/**
 * The one logger of the library, as in `rxmux`. A page that does not import it carries no lines of the level `debug` for frames and sockets.
 *
 * @example
 * ```ts
 * logger.level = 'debug';   // one line a frame
 * ```
 */
export const logger: Logger = {
  get level() {
    return shared.level;
  },
  set level(level) {
    logPeers();
    shared.level = level;
  },
  isEnabledFor: (level) => shared.isEnabledFor(level),
  get debug() {
    return shared.debug;
  },
  set debug(debug) {
    shared.debug = debug;
  },
  get info() {
    return shared.info;
  },
  set info(info) {
    shared.info = info;
  },
  get warn() {
    return shared.warn;
  },
  set warn(warn) {
    shared.warn = warn;
  },
  get error() {
    return shared.error;
  },
  set error(error) {
    shared.error = error;
  },
};
