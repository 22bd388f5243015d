/** x */
import { layGround } from "./database/ground.ts"
import { simulate } from "./simulate.ts"

const [from = 1, count = 10] = process.argv.slice(2).map(Number)
const ground = await layGround()
let total = 0
for (let seed = from; seed < from + count; seed += 1) {
  const t = process.cpuUsage()
  const r = await simulate(ground, seed, process.argv.includes("--trace") ? console.log : undefined)
  const u = process.cpuUsage(t)
  const ms = (u.user + u.system) / 1000
  total += ms
  console.log(
    seed,
    Math.round(ms),
    r.steps,
    Math.round(r.virtualMs),
    r.hash.slice(0, 8),
    JSON.stringify(r.examination.statistics).slice(0, 150),
    r.isGreen ? "" : `\n  ${r.says.join("\n  ")}`,
  )
}
if (process.env.COUNT)
  console.log(
    (globalThis as any).counts
      ? Object.entries((globalThis as any).counts)
          .sort((a: any, b: any) => b[1][1] - a[1][1])
          .slice(0, 30)
          .map(([k, [n, ms]]: any) => `${k} ${n} ${Math.round(ms)}`)
          .join("\n")
      : "",
  )
console.log("mean ms", total / count)
process.exit(0)
