/**
 * Puts each mutant in the place of the product and demands that it is found.
 *
 *     npm run mutants                       all of them, two at a time
 *     npm run mutants -- fence reap         those with one of these words in their names
 *     npm run mutants -- --list
 *     npm run mutants -- --json test/mutants/results.json
 *
 * A mutant that no longer fits the code, does not compile, is noticed by the unit tests or is not found is a failure.
 */
import { writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import { MUTANTS } from "./list.ts"
import type { Mutant } from "./mutant.ts"
import { tryMutant, type Verdict } from "./try.ts"
import { createWorkspace } from "./workspace.ts"

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { list: { type: "boolean", default: false }, json: { type: "string" } },
})
const chosen = MUTANTS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))

if (values.list) {
  for (const { name, breaks } of chosen) console.log(`${breaks.padEnd(4)} ${name}`)
  process.exit(0)
}

const queue = [...chosen]
const verdicts: (Verdict & { readonly mutant: Mutant })[] = []

async function work(): Promise<void> {
  const workspace = createWorkspace()
  try {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const verdict = await tryMutant(workspace, mutant)
      verdicts.push({ ...verdict, mutant })
      const word = verdict.found ? "found" : "NOT FOUND"
      console.log(`${word}  ${mutant.breaks.padEnd(4)} ${mutant.name}: ${verdict.says}`)
    }
  } finally {
    workspace.remove()
  }
}

await Promise.all(Array.from({ length: Math.min(availableParallelism(), 2) }, work))
const missed = verdicts.filter(({ found }) => !found)
console.log(`${verdicts.length} mutants, ${verdicts.length - missed.length} found, ${missed.length} not`)
if (values.json !== undefined) {
  const results = chosen.map(({ name, breaks }) => ({
    name,
    breaks,
    found: verdicts.some(({ mutant, found }) => mutant.name === name && found),
    by: verdicts.find(({ mutant }) => mutant.name === name)?.by ?? "",
  }))
  writeFileSync(values.json, `${JSON.stringify(results, undefined, 2)}\n`)
}
process.exit(missed.length === 0 && verdicts.length > 0 ? 0 : 1)
