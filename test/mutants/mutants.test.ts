/** The mutants fit the code as it is: what no longer applies proves nothing. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { INVARIANTS } from "../support/history/violation.ts"
import { MUTANTS } from "./list.ts"
import { mistakeOf, type Result } from "./mutant.ts"
import { applyEdit } from "./workspace.ts"

/** Of `npm run mutants -- --json test/mutants/results.json`. */
const RESULTS = JSON.parse(readFileSync("test/mutants/results.json", "utf8")) as readonly Result[]

describe("every mutant", () => {
  it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))("%s: fits the code", (_, { edits }) => {
    const texts = new Map<string, string>()
    for (const edit of edits) {
      const before = texts.get(edit.file) ?? readFileSync(edit.file, "utf8")
      const after = applyEdit(before, edit)
      expect(after).not.toBe(before)
      texts.set(edit.file, after)
    }
  })

  it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    "%s: was found as it is, and the results say by what",
    (name, mutant) => {
      const result = RESULTS.find((each) => each.name === name)
      expect(result).toMatchObject({ breaks: mutant.breaks, mistake: mistakeOf(mutant), found: true })
    },
  )

  it("has a name of its own", () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
  })
})

describe("every invariant", () => {
  it.each(Object.keys(INVARIANTS))("%s is broken by a mutant", (invariant) => {
    expect(MUTANTS.filter(({ breaks }) => breaks === invariant)).not.toEqual([])
  })
})
