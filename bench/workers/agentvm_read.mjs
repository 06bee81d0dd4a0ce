// AgentVM in memory: one `get`, or the 200 keys under a prefix. The other side is bench/remote.py.

import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => process.stdout.write(JSON.stringify(value) + "\n");
const options = JSON.parse((await lines.next()).value);
const { MemoryBus } = await import(options.module);
const memory = new MemoryBus().getAccessor("bench");

const prefix = (n) => `user-${String(Math.floor(n / 200)).padStart(5, "0")}:`;
const place = (n) => prefix(n) + String(n % 200).padStart(3, "0");
const spread = (n) => Number((BigInt(n) * 611953n) % BigInt(options.size));

for (let n = 0; n < options.size; n++)
  await memory.set(place(n), { n, text: "x".repeat(options.length - 19 - String(n).length) });
const read =
  options.job === "get"
    ? (n) => memory.get(place(spread(n)))
    : (n) => memory.list(prefix(spread(n)));
let done = 0;
say({});
for await (const line of lines) {
  const { run } = JSON.parse(line);
  const ns = [];
  for (let n = done; n < done + run; n++) {
    const start = process.hrtime.bigint();
    await read(n);
    ns.push(Number(process.hrtime.bigint() - start));
  }
  done += run;
  say({ ns, elapsed_ns: ns.reduce((sum, each) => sum + each, 0), syncs: 0 });
}
