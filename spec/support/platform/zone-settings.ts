/**
 * Keeps zone.js from patching EventTarget. All spec files of one process share its EventTarget: a patch would outlive the spec that
 * loaded it, and break the message ports of the next one.
 */
Object.assign(globalThis, { __Zone_disable_EventTarget: true });
