// Loaded into an agent's Node processes by NODE_OPTIONS: JavaScript's clocks as `agent.clock` says.
"use strict";
const { performance } = require("node:perf_hooks");
const fs = require("node:fs");
const path = require("node:path");

const began = Number(process.env.FLOWPROOF_CLOCK) * 1000;
const moves = process.env.FLOWPROOF_CLOCK_MOVES === "1";
const started = performance.now();
const now = () => Math.floor(moves ? began + (performance.now() - started) : began);

const Real = Date;
// A Proxy is the real Date in all but the time: instances, statics, `instanceof` and the prototype stay.
globalThis.Date = new Proxy(Real, {
  construct: (target, given, of) => Reflect.construct(target, given.length ? given : [now()], of),
  apply: () => new Real(now()).toString(),
});
Real.now = now;
Real.prototype.constructor = globalThis.Date;

// Formatting without a date means now.
const format = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, "format");
Object.defineProperty(Intl.DateTimeFormat.prototype, "format", {
  ...format,
  get() {
    const bound = format.get.call(this);
    return (date) => bound(date === undefined ? now() : date);
  },
});
const parts = Intl.DateTimeFormat.prototype.formatToParts;
Intl.DateTimeFormat.prototype.formatToParts = function (date) {
  return parts.call(this, date === undefined ? now() : date);
};

fs.writeFileSync(path.join(process.env.FLOWPROOF_CLOCK_ANNOUNCED, `node-${process.pid}`), "");
