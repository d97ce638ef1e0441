/**
 * `make bench`: measurements beside peers, all in one run on one machine, so that the ratios mean something. Prints Markdown
 * tables; docs/benchmarks.md keeps the last published ones with the machine they were taken on. Never a timed test.
 */
import { cpus, totalmem } from 'node:os';
import { measureMemory } from './memory/measure.ts';
import { measureTelemetry } from './telemetry/measure.ts';

const benches = { memory: measureMemory, telemetry: measureTelemetry };

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(
    `error: no benchmark named ${unknown.join(', ')}\nremedy: choose from ${Object.keys(benches).join(', ')}`,
  );
  process.exit(2);
}

console.log(
  `machine: ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`,
);
for (const [name, bench] of Object.entries(benches)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(`\n## ${name}\n`);
  await bench();
}
