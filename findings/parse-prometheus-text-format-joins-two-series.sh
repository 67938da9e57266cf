#!/usr/bin/env bash
# parse-prometheus-text-format 1.1.1: a histogram with two series is read as one, without a label and without its sum and count.
# Expected: one entry for each series, as for a counter, and as the README shows for a summary without quantiles. The README: "The output aims to be compatible with that of prom2json".
# Seen: the buckets of `put` replace those of `get`, and `method`, `sum` and `count` are gone. A summary with quantiles loses the same; a counter keeps both.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund parse-prometheus-text-format@1.1.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import loaded from 'parse-prometheus-text-format';

const parse = loaded.default ?? loaded;
const lines = (...all) => all.map((line) => `${line}\n`).join('');
const histogram = (method, fast, all, sum) => [
  `wait_seconds_bucket{method="${method}",le="0.1"} ${fast}`,
  `wait_seconds_bucket{method="${method}",le="+Inf"} ${all}`,
  `wait_seconds_sum{method="${method}"} ${sum}`,
  `wait_seconds_count{method="${method}"} ${all}`,
];
const [counter] = parse(lines('# TYPE calls_total counter', 'calls_total{method="get"} 20', 'calls_total{method="put"} 9'));
const [both] = parse(lines('# TYPE wait_seconds histogram', ...histogram('get', 15, 20, 3.5), ...histogram('put', 2, 9, 7)));
const [plain] = parse(lines('# TYPE wait_seconds histogram', ...histogram('get', 15, 20, 3.5)).replaceAll(/method="get",?/g, ''));
console.log('a counter with two series:', JSON.stringify(counter.metrics));
console.log('a histogram without a label:', JSON.stringify(plain.metrics));
console.log('a histogram with two series:', JSON.stringify(both.metrics));
const isSeen =
  counter.metrics.map(({ labels, value }) => `${labels.method} ${value}`).join() === 'get 20,put 9' &&
  JSON.stringify(plain.metrics) === '[{"buckets":{"0.1":"15","+Inf":"20"},"count":"20","sum":"3.5"}]' &&
  JSON.stringify(both.metrics) === '[{"buckets":{"0.1":"2","+Inf":"9"}}]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
