/** The mutants fit the code as it is: what no longer applies proves nothing. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { INVARIANTS } from "../support/history/violation.ts"
import { MUTANTS } from "./list.ts"
import { type Mutant, mistakeOf, type Result, soonest } from "./mutant.ts"
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

describe("the quick choice", () => {
  it("has one mutant of each invariant that the simulator can show, the one that it found soonest", () => {
    const chosen = soonest(MUTANTS, RESULTS)
    const shown = MUTANTS.filter(({ shownBy }) => shownBy.kind === "sim").map(({ breaks }) => breaks)
    expect(chosen.map(({ breaks }) => breaks).sort()).toEqual([...new Set(shown)].sort())
    const [first, second] = [MUTANTS[0], MUTANTS[1]].map((mutant) => ({ ...mutant, breaks: "I1" }) as Mutant)
    const result = (mutant: Mutant | undefined, by: string) =>
      ({ name: mutant?.name, found: true, by }) as Result
    const results = [result(first, "seed 10"), result(second, "seed 9")]
    expect(
      soonest(
        [first, second].flatMap((mutant) => mutant ?? []),
        results,
      ),
    ).toEqual([second])
  })
})

describe("every invariant", () => {
  it.each(Object.keys(INVARIANTS))("%s is broken by a mutant", (invariant) => {
    expect(MUTANTS.filter(({ breaks }) => breaks === invariant)).not.toEqual([])
  })
})
