const LOOPBACK = /^[a-z+]+:\/\/(?:[^/?#@]*@)?(?:(?:[^/?#:@]+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/?#]|$)/i;
const CREDENTIALS = /^([a-z+]+:\/\/)[^/?#]*@/i;
const QUERY_OR_FRAGMENT = /[?#].*$/s;

/** An address for errors and log lines. It omits credentials, query and fragment, which may hold tokens. */
export function shownAddress(address: string): string {
  return address.replace(QUERY_OR_FRAGMENT, '').replace(CREDENTIALS, '$1');
}

/** Whether an address names this machine, and so needs no network. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address);
}
