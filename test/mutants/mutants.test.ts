/** The mutants fit the code as it is: what no longer applies proves nothing. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { INVARIANTS } from "../support/history/violation.ts"
import { MUTANTS } from "./list.ts"
import { applyEdit } from "./workspace.ts"

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

  it("has a name of its own", () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
  })
})

describe("every invariant", () => {
  it.each(Object.keys(INVARIANTS))("%s is broken by a mutant", (invariant) => {
    expect(MUTANTS.filter(({ breaks }) => breaks === invariant)).not.toEqual([])
  })
})
