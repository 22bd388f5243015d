/**
 * Runs simulations and says which seeds failed.
 *
 *     npm run sim -- --seeds 1000              a thousand seeds from 1 on, on all cores
 *     npm run sim -- --seeds 1000 --from 5000 --jobs 1
 *     npm run sim -- --seeds 300 --until I5    until this invariant is found broken, or any with `any`
 *     npm run sim -- --seeds 20000 --json test/sim/results.json
 *     npm run sim -- --seed 17 --trace         one seed, with everything that happens in it
 *     npm run sim -- --merge one.json two.json --json test/sim/results.json
 *
 * Many seeds can be simulated in parts: each with its own `--from` and `--json`, whose results `--merge` adds up. It
 * refuses parts that have a seed in common, and those that did not come to their end.
 *
 * Each failing seed comes with what is wrong and with how to see it again.
 */
import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import { wholeNumber } from "../support/whole-number.ts"
import { mergeParts } from "./merge.ts"
import { runSeeds } from "./run-seeds.ts"
import { add, createTotals, describeTotals, type Result, type Totals } from "./statistics.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    trace: { type: "boolean", default: false },
    jobs: { type: "string", default: String(availableParallelism()) },
    until: { type: "string" },
    json: { type: "string" },
    merge: { type: "boolean", default: false },
    /** Every so many seeds, for one of several crews: their results go to their parent as JSON. */
    every: { type: "string" },
  },
})

const say = (line: string) => process.stdout.write(`${line}\n`)
const PROGRESS_EVERY = 100

async function main(): Promise<number> {
  if (values.merge) return merge(positionals)
  if (positionals.length > 0) throw new Error(`unknown argument: ${positionals.join(" ")}`)
  if (values.seed !== undefined) {
    const seed = whole("seed")
    return report(one(seed), seed, 1)
  }
  const [from, count] = [whole("from"), whole("seeds")]
  if (values.every !== undefined) return work(range(from, from + count, whole("every")))
  const jobs = Math.min(whole("jobs"), count)
  return report(jobs === 1 ? runSeeds(range(from, from + count, 1)) : crews(from, count, jobs), from, count)
}

/** None at all would prove nothing, and say so in green. */
const whole = (name: "seed" | "seeds" | "from" | "jobs" | "every") => wholeNumber(name, values[name])

function* range(from: number, to: number, step: number): Generator<number> {
  for (let seed = from; seed < to; seed += step) yield seed
}

function one(seed: number): AsyncGenerator<Result> {
  return runSeeds([seed], values.trace ? { print: say } : {})
}

/** One of several crews. */
async function work(seeds: Iterable<number>): Promise<number> {
  for await (const result of runSeeds(seeds)) say(JSON.stringify(result))
  return 0
}

/** Seeds spread over several processes of the system; results as they come. */
async function* crews(from: number, count: number, jobs: number): AsyncGenerator<Result> {
  const results: Result[] = []
  let wake = () => {}
  let running = jobs
  const children = Array.from({ length: jobs }, (_, index) => {
    const args = ["--from", from + index, "--seeds", count - index, "--every", jobs].map(String)
    const child = spawn(process.execPath, ["scripts/run-ts.mjs", "test/sim/main.ts", ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    createInterface({ input: child.stdout }).on("line", (line) => {
      results.push(JSON.parse(line))
      wake()
    })
    child.on("close", (code) => {
      if (code !== 0) results.push(brokenCrew(from + index, code))
      running -= 1
      wake()
    })
    return child
  })
  try {
    while (running > 0 || results.length > 0) {
      const result = results.shift()
      if (result) yield result
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  } finally {
    for (const child of children) child.kill()
  }
}

function brokenCrew(seed: number, code: number | null): Result {
  const says = [`TROUBLE: the crew that began with seed ${seed} ended with code ${code}`]
  return { seed, hash: "", steps: 0, virtualMs: 0, cpuMs: 0, counted: {}, judged: {}, faults: {}, says }
}

async function report(results: AsyncGenerator<Result>, from: number, count: number): Promise<number> {
  const totals = createTotals([[from, from + count - 1]])
  const failed: number[] = []
  for await (const result of results) {
    add(totals, result)
    if (result.says.length > 0) {
      failed.push(result.seed)
      say(`seed ${result.seed} failed; to see it again: npm run sim -- --seed ${result.seed} --trace`)
      for (const line of result.says) say(`  ${line}`)
      if (isFound(result)) break
    }
    if (totals.seeds % PROGRESS_EVERY === 0) say(`${totals.seeds} of ${count} seeds, ${totals.failed} failed`)
    if (values.seed !== undefined) say(`hash ${result.hash}`)
  }
  tell(totals)
  if (failed.length > 0) say(`failing seeds: ${failed.join(", ")}`)
  return failed.length > 0 ? 1 : 0
}

function merge(files: readonly string[]): number {
  if (files.length === 0) throw new Error("--merge needs the files that are to be added up")
  const parts = files.map((name) => ({
    name,
    totals: JSON.parse(readFileSync(name, "utf8")) as Partial<Totals>,
  }))
  const totals = mergeParts(parts)
  tell(totals)
  return totals.failed > 0 ? 1 : 0
}

function tell(totals: Totals): void {
  say(describeTotals(totals))
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(totals, undefined, 2)}\n`)
}

/** Whether this is what was looked for. */
function isFound({ says }: Result): boolean {
  const { until } = values
  return until !== undefined && (until === "any" || says.some((line) => line.startsWith(`${until} (`)))
}

process.exit(await main())
