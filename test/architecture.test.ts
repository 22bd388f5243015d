/** The architecture, kept by itself. Each rule lists what breaks it; test/planted.test.ts proves that it can. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { unknownScripts, unpinnedActions } from "./support/rules/commands.ts"
import { packagesOfTheReport } from "./support/rules/report.ts"
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

const src = readSources("src", ".ts")
const everything = [...src, ...readSources("test", ".ts"), ...readSources("scripts", ".mjs")]
const suites = everything.filter(({ path }) => path.endsWith(".test.ts"))

describe("the rings", () => {
  it("have a place for every folder of src", () => {
    expect(homeless(src)).toEqual([])
  })
  it("are entered from outside only", () => {
    expect(outwardImports(src)).toEqual([])
  })
  it("keep neighbours apart, but for what is allowed", () => {
    expect(sidewaysImports(src)).toEqual([])
  })
  it("lead the outermost to the database only through api", () => {
    expect(shortcuts(src)).toEqual([])
  })
  it("show the dashboard nothing but the types of http", () => {
    expect(dashboardImports(src)).toEqual([])
  })
  it("are pure in 0 and 1: no part of Node", () => {
    expect(impureImports(src)).toEqual([])
  })
  it("take each package in at one place", () => {
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
  it("is never called by the same name twice", () => {
    expect(repeatedStatements(src)).toEqual([])
  })
})

describe("a file", () => {
  it("has 400 lines at the most", () => {
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
  it("says no name twice", () => {
    expect(repeatedTestNames(suites)).toEqual([])
  })
})

describe("the report of the benchmark", () => {
  it("is written without any package", () => {
    expect(packagesOfTheReport(readSources("bench", ".mjs"))).toEqual([])
  })
})

describe("a command that is written down", () => {
  const pages = readdirSync(ROOT)
    .filter((path) => path.endsWith(".md"))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }))
  const written = [...pages, ...readSources("docs", ".md"), ...readSources("bench", ".md")]
  const workflows = [...readSources(".github", ".yml", ".md"), ...readSources(".ci", "")]
  it("is a script of the package", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object }
    expect(unknownScripts([...written, ...workflows], Object.keys(scripts))).toEqual([])
  })
  it("uses actions by their major version", () => {
    expect(unpinnedActions(workflows)).toEqual([])
  })
})
