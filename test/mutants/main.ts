/**
 * Puts each mutant in the place of the product and demands that it is found.
 *
 *     npm run mutants                       all of them, two at a time
 *     npm run mutants -- fence reap         those with one of these words in their names
 *     npm run mutants -- --list
 *
 * A mutant that no longer fits the code, does not compile, is noticed by the unit tests or is not found is a failure.
 */
import { availableParallelism } from "node:os"
import { MUTANTS } from "./list.ts"
import { tryMutant, type Verdict } from "./try.ts"
import { createWorkspace } from "./workspace.ts"

const words = process.argv.slice(2)
const chosen = MUTANTS.filter(
  ({ name }) => words.every((word) => word.startsWith("--")) || words.some((word) => name.includes(word)),
)

if (words.includes("--list")) {
  for (const { name, breaks } of chosen) console.log(`${breaks.padEnd(4)} ${name}`)
  process.exit(0)
}

const queue = [...chosen]
const verdicts: Verdict[] = []

async function work(): Promise<void> {
  const workspace = createWorkspace()
  try {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const verdict = await tryMutant(workspace, mutant)
      verdicts.push(verdict)
      console.log(
        `${verdict.found ? "found" : "NOT FOUND"}  ${mutant.breaks.padEnd(4)} ${mutant.name}: ${verdict.says}`,
      )
    }
  } finally {
    workspace.remove()
  }
}

await Promise.all(Array.from({ length: Math.min(availableParallelism(), 2) }, work))
const missed = verdicts.filter(({ found }) => !found)
console.log(`${verdicts.length} mutants, ${verdicts.length - missed.length} found, ${missed.length} not`)
process.exit(missed.length === 0 && verdicts.length > 0 ? 0 : 1)
