/** The architecture rules. Each rule lists what breaks it; test/planted.test.ts proves that it can fail. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { unknownScripts, unpinnedActions } from "./support/rules/commands.ts"
import { overlapComparisons } from "./support/rules/overlap.ts"
import { longLines, vagueComments, vagueTexts } from "./support/rules/plain-english.ts"
import { packagesOfTheReport } from "./support/rules/report.ts"
import { retiredWords } from "./support/rules/retired-words.ts"
import {
  dashboardImports,
  homeless,
  importCycles,
  impureImports,
  outwardImports,
  shortcuts,
  sidewaysImports,
  strayPackages,
} from "./support/rules/rings.ts"
import { longFiles, meaninglessNames, misnamedFiles, unexplainedFiles } from "./support/rules/shape.ts"
import { misnamedStatements, repeatedStatements, straySql } from "./support/rules/sql.ts"
import { leftOutTests, repeatedTestNames } from "./support/rules/suites.ts"
import { toldByHand } from "./support/rules/telling.ts"
import { ROOT, readSources } from "./support/sources.ts"

const src = readSources("src", ".ts", ".tsx")
const everything = [...src, ...readSources("test", ".ts"), ...readSources("scripts", ".mjs")]
const suites = everything.filter(({ path }) => path.endsWith(".test.ts"))
const written = [
  ...everything,
  ...readSources("test", ".mts", ".mjs"),
  ...readSources("bench", ".mjs"),
  ...readSources("src", ".mjs", ".sql"),
]
const pages = [
  ...readdirSync(ROOT)
    .filter((path) => path.endsWith(".md"))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") })),
  ...["docs", "bench", "examples", "test"].flatMap((folder) => readSources(folder, ".md")),
]

describe("the rings", () => {
  it("have a place for every folder of src", () => {
    expect(homeless(src)).toEqual([])
  })
  it("point inwards only", () => {
    expect(outwardImports(src)).toEqual([])
  })
  it("keep neighbours apart, with the listed exceptions", () => {
    expect(sidewaysImports(src)).toEqual([])
  })
  it("lead from the outermost ring to the database only through api", () => {
    expect(shortcuts(src)).toEqual([])
  })
  it("show the dashboard nothing but the types of http", () => {
    expect(dashboardImports(src)).toEqual([])
  })
  it("are pure in 0 and 1: no part of Node", () => {
    expect(impureImports(src)).toEqual([])
  })
  it("import each package in one place", () => {
    expect(strayPackages(src)).toEqual([])
  })
  it("hold no cycle, not even of types", () => {
    expect(importCycles(src)).toEqual([])
  })
})

describe("an operation", () => {
  it("returns what follows from it, and tells nothing itself", () => {
    expect(toldByHand(src)).toEqual([])
  })
})

describe("SQL", () => {
  it("stands below src/store and nowhere else", () => {
    expect(straySql(src)).toEqual([])
  })
  it("is named by the path of its file", () => {
    expect(misnamedStatements(src)).toEqual([])
  })
  it("has no name twice", () => {
    expect(repeatedStatements(src)).toEqual([])
  })
})

describe("an overlap policy", () => {
  it("is asked for its behaviour, and never compared by name outside of its table", () => {
    expect(overlapComparisons([...src, ...readSources("src", ".sql")])).toEqual([])
  })
})

describe("a file", () => {
  it("has 400 lines at most", () => {
    expect(longFiles(everything)).toEqual([])
  })
  it("says what it is for", () => {
    expect(unexplainedFiles(src)).toEqual([])
  })
  it("is named in kebab-case", () => {
    expect(misnamedFiles([...everything, ...readSources("src", ".sql")])).toEqual([])
  })
  it("has a name that says what is inside", () => {
    expect(meaninglessNames(everything)).toEqual([])
  })
})

describe("a suite", () => {
  it("leaves no test out", () => {
    expect(leftOutTests(suites)).toEqual([])
  })
  it("has no name twice", () => {
    expect(repeatedTestNames(suites)).toEqual([])
  })
})

describe("the English of the code", () => {
  it("fits into 120 columns", () => {
    expect(longLines(written)).toEqual([])
  })
  it("names who acts in every comment", () => {
    expect(vagueComments(written)).toEqual([])
  })
  it("names who acts in every message and in the name of every test", () => {
    // The tests of the rules plant what the rules forbid.
    expect(vagueTexts(written.filter(({ path }) => path !== "test/planted.test.ts"))).toEqual([])
  })
  it("contains no retired word", () => {
    const others = written.filter(({ path }) => !path.startsWith("test/support/rules/retired-words"))
    expect(retiredWords([...others, ...pages])).toEqual([])
  })
})

describe("the report of the benchmark", () => {
  it("needs no package", () => {
    expect(packagesOfTheReport(readSources("bench", ".mjs"))).toEqual([])
  })
})

describe("a command that is written down", () => {
  const workflows = [...readSources(".github", ".yml", ".md"), ...readSources(".ci", "")]
  it("is a script of the package", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object }
    expect(unknownScripts([...pages, ...workflows], Object.keys(scripts))).toEqual([])
  })
  it("uses actions by their major version", () => {
    expect(unpinnedActions(workflows)).toEqual([])
  })
})
