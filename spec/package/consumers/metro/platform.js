// The timers and the console, which React Native adds to Hermes. After every 20 rounds of promises one timer runs.
var timers = [];
var made = 0;
globalThis.setTimeout =
  globalThis.setInterval =
  globalThis.setImmediate =
    function (task) {
      timers.push({ id: ++made, task: task });
      return made;
    };
globalThis.clearTimeout =
  globalThis.clearInterval =
  globalThis.clearImmediate =
    function (id) {
      timers = timers.filter(function (timer) {
        return timer.id !== id;
      });
    };
globalThis.console = { log: print, debug: print, info: print, warn: print, error: print };
(function round(left) {
  if (left > 0)
    Promise.resolve().then(function () {
      var timer = left % 20 === 0 ? timers.shift() : undefined;
      if (timer !== undefined) timer.task();
      round(left - 1);
    });
})(2000);
