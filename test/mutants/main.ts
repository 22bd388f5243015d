/**
 * Puts each mutant in the place of the product and demands that it is found.
 *
 *     npm run mutants                       all of them, two at a time
 *     npm run mutants -- fence reap         those with one of these words in their names
 *     npm run mutants -- --quick            of each invariant the one that the simulator found soonest
 *     npm run mutants -- --list
 *     npm run mutants -- --json test/mutants/results.json
 *
 * A mutant that no longer fits the code, does not compile, is noticed by the unit tests or is not found is a failure;
 * so is one whose seed or fault is red without it as well. Results of mutants that were not chosen stay as they are
 * in the file.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import { MUTANTS } from "./list.ts"
import { mistakeOf, type Result, soonest } from "./mutant.ts"
import { type Controls, tryMutant, type Verdict } from "./try-mutant.ts"
import { createWorkspace } from "./workspace.ts"

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    json: { type: "string" },
  },
})
const RESULTS = "test/mutants/results.json"
const named = MUTANTS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
const chosen = values.quick ? soonest(named, readResults(RESULTS)) : named

if (values.list) {
  for (const { name, breaks } of chosen) console.log(`${breaks.padEnd(4)} ${name}`)
  process.exit(0)
}

const queue = [...chosen]
const verdicts = new Map<string, Verdict>()
const controls: Controls = new Map()
const beganMs = performance.now()

async function work(): Promise<void> {
  const workspace = createWorkspace()
  try {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const fromMs = performance.now()
      const verdict = await tryMutant(workspace, mutant, controls)
      verdicts.set(mutant.name, verdict)
      if (values.json !== undefined) keep(values.json)
      const word = verdict.found ? "found" : "NOT FOUND"
      const by = verdict.found ? ` (${verdict.by})` : ""
      console.log(
        `${word}  ${mutant.breaks.padEnd(4)} ${mutant.name}${by}, ${secondsSince(fromMs)} s: ${verdict.says}`,
      )
    }
  } finally {
    workspace.remove()
  }
}

function secondsSince(fromMs: number): number {
  return Math.round((performance.now() - fromMs) / 1_000)
}

function readResults(file: string): readonly Result[] {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : []
}

function keep(file: string): void {
  const before = readResults(file)
  const results = MUTANTS.flatMap((mutant): Result[] => {
    const { name, breaks } = mutant
    const verdict = verdicts.get(name)
    if (!verdict) return before.filter((result) => result.name === name && result.breaks === breaks)
    const { found, by, says } = verdict
    return [{ name, breaks, mistake: mistakeOf(mutant), found, by, says: found ? says : "" }]
  })
  writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`)
}

await Promise.all(Array.from({ length: Math.min(availableParallelism(), 2) }, work))
const missed = [...verdicts.values()].filter(({ found }) => !found).length
console.log(
  `${verdicts.size} mutants, ${verdicts.size - missed} found, ${missed} not; ${secondsSince(beganMs)} seconds`,
)
process.exit(missed === 0 && verdicts.size > 0 ? 0 : 1)
