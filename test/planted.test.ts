/** Proof that the rules can fail: each sees the fault it is there for, and something harmless beside it. */
import { describe, expect, it } from "vitest"
import { unknownScripts, unpinnedActions } from "./support/rules/commands.ts"
import { wrongDefaults } from "./support/rules/defaults.ts"
import { undocumented, unlistedCodes, unthrownCodes } from "./support/rules/error-codes.ts"
import { brokenLinks, missingPaths, unnamedPaths } from "./support/rules/links.ts"
import { overlapComparisons } from "./support/rules/overlap.ts"
import { longLines, vagueComments, vagueTexts } from "./support/rules/plain-english.ts"
import { packagesOfTheReport } from "./support/rules/report.ts"
import { RETIRED_WORDS, retiredWords } from "./support/rules/retired-words.ts"
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
import type { Source } from "./support/sources.ts"

type Rule = (sources: readonly Source[]) => string[]

/** Files by their paths. */
function plant(files: Readonly<Record<string, string>>): Source[] {
  return Object.entries(files).map(([path, text]) => ({ path, text }))
}

/** A file below src that imports one thing. */
function importing(path: string, specifier: string): Source[] {
  return plant({ [path]: `import { it } from "${specifier}"` })
}

describe("the rings turn red", () => {
  it.each<[string, Rule, Source[]]>([
    [
      "the engine uses an operation",
      outwardImports,
      importing("src/engine/a.ts", "../operations/runs/cancel.ts"),
    ],
    ["an operation uses api", outwardImports, importing("src/operations/a.ts", "../api/carillon.ts")],
    ["the engine uses api", outwardImports, importing("src/engine/a.ts", "../api/carillon.ts")],
    [
      "a store uses the engine, for a type",
      outwardImports,
      plant({ "src/store/a.ts": `import type { A } from "../engine/a.ts"` }),
    ],
    [
      "a job passes on what the store exports",
      outwardImports,
      plant({ "src/job/a.ts": `export { a } from "../store/a.ts"` }),
    ],
    [
      "time passes on all that the store exports",
      outwardImports,
      plant({ "src/time/a.ts": `export * from "../store/a.ts"` }),
    ],
    [
      "the queue loads the engine later",
      outwardImports,
      plant({ "src/queue/a.ts": `const a = await import("../engine/a.ts")` }),
    ],
    [
      "a type is taken from the store in passing",
      outwardImports,
      plant({ "src/job/a.ts": `type A = import("../store/a.ts").A` }),
    ],
    ["errors use options", sidewaysImports, importing("src/errors.ts", "./options/check.ts")],
    ["a job uses the queue", sidewaysImports, importing("src/job/a.ts", "../queue/retry.ts")],
    ["a schedule uses the queue", sidewaysImports, importing("src/schedule/a.ts", "../queue/retry.ts")],
    ["the cli uses the test kit", sidewaysImports, importing("src/cli/a.ts", "../testing/index.ts")],
    ["the cli uses the store", shortcuts, importing("src/cli/a.ts", "../store/database.ts")],
    ["http uses the engine", shortcuts, importing("src/http/a.ts", "../engine/engine.ts")],
    ["the dashboard uses code of http", dashboardImports, importing("src/dashboard/a.ts", "../http/a.ts")],
    ["a job uses node:fs", impureImports, importing("src/job/a.ts", "node:fs")],
    ["time uses fs without saying node:", impureImports, importing("src/time/a.ts", "fs")],
    ["a job uses a package", strayPackages, importing("src/job/a.ts", "zod")],
    ["the engine uses pg", strayPackages, importing("src/engine/a.ts", "pg")],
    [
      "PGlite is used outside its file",
      strayPackages,
      importing("src/store/migrate.ts", "@electric-sql/pglite"),
    ],
    ["an import is computed", strayPackages, plant({ "src/engine/a.ts": "await import(name)" })],
    ["a folder is in no ring", homeless, plant({ "src/shared/a.ts": "" })],
    [
      "three files form a ring of their own",
      importCycles,
      plant({
        "src/job/a.ts": `import { b } from "./b.ts"`,
        "src/job/b.ts": `export * from "./c.ts"`,
        "src/job/c.ts": `import type { A } from "./a.ts"`,
      }),
    ],
  ])("when %s", (_, rule, sources) => {
    expect(rule(sources)).toHaveLength(1)
  })

  it("and stay green for what is allowed", () => {
    const fine = plant({
      "src/job/a.ts": `import { parse } from "../time/duration.ts"`,
      "src/queue/a.ts": `import type { Job } from "../job/a.ts"`,
      "src/store/server/pool.ts": `import pg from "pg"`,
      "src/store/pglite.ts": `import { PGlite } from "@electric-sql/pglite"`,
      "src/engine/a.ts": `import { claim } from "../store/a.ts"\n// import { api } from "../api/carillon.ts"`,
      "src/testing/a.ts": `import { claim } from "../store/a.ts"`,
      "src/dashboard/a.ts": `import type { Page } from "../http/a.ts"`,
      "src/job/a.test.ts": `import { it } from "vitest"\nconst text = 'import a from "pg"'`,
    })
    const rules = [outwardImports, sidewaysImports, shortcuts, dashboardImports, impureImports]
    expect([...rules, strayPackages, homeless, importCycles].flatMap((rule) => rule(fine))).toEqual([])
  })
})

describe("operations turn red", () => {
  it.each([
    ["one wakes a pool", "src/operations/runs/a.ts", "engine.wakeups.ready(lane)"],
    ["one emits an event", "src/operations/runs/a.ts", "events.emit(event)"],
    ["a call admits under limits", "src/api/a.ts", "engine.admissions\n  .admit(keys)"],
  ])("when %s", (_, path, text) => {
    expect(toldByHand(plant({ [path]: text }))).toHaveLength(1)
  })

  it("but not for loops, nor for an application that tells of its life", () => {
    const fine = { "src/engine/a.ts": "wakeups.ready(lane)", "src/api/a.ts": "events.emit(event)" }
    expect(toldByHand(plant(fine))).toEqual([])
  })
})

describe("the rule about overlap policies", () => {
  it.each([
    'if (policy.overlap === "skip") return',
    'if (policy.overlap !== "allow") return',
    'const takes = given === "collapse"',
    'switch (named) { case "replace": }',
    "const sql = `where overlap = 'skip'`",
    "const sql = `where limit_name like 'overlap%'`",
    "const sql = `case settings when 'queue' then 1 end`",
  ])("turns red for %s", (text) => {
    expect(overlapComparisons(plant({ "src/engine/a.ts": text }))).not.toEqual([])
  })

  it("stays green for the table, for values, and for words that others share", () => {
    const fine = plant({
      "src/job/overlap.ts": 'const isAlone = overlap !== "allow"',
      "src/defaults.ts": 'const usual = { overlap: "skip" }',
      "src/time/a.ts": 'if (dst.gap === "skip") return',
      "src/api/a.ts": 'const check = oneOf("allow")',
    })
    expect(overlapComparisons(fine)).toEqual([])
  })
})

describe("the rule about the report of the benchmark", () => {
  const report = {
    "bench/report.mjs": `import { section } from "./report/section.mjs"`,
    "bench/report/section.mjs": `import { readFileSync } from "node:fs"\nimport { figures } from "../part.mjs"`,
    "bench/part.mjs": "",
    "bench/other.mjs": `import Redis from "ioredis"`,
  }

  it("turns red when a file behind it imports a package", () => {
    const sources = plant({ ...report, "bench/part.mjs": `import { redis } from "./other.mjs"` })
    expect(packagesOfTheReport(sources)).toEqual(["bench/other.mjs imports ioredis"])
  })
  it("stays green when only another part of the benchmark does", () => {
    expect(packagesOfTheReport(plant(report))).toEqual([])
  })
})

describe("the rules about commands turn red", () => {
  it("when a workflow or a page runs a script that the package does not have", () => {
    const sources = plant({
      ".github/workflows/a.yml": "- run: npm run tset:long",
      "A.md": "`npm run --silent chekc`",
    })
    expect(unknownScripts(sources, ["test:long", "check"])).toEqual([
      ".github/workflows/a.yml runs tset:long",
      "A.md runs chekc",
    ])
  })
  it("when an action has no version, or a branch for one", () => {
    const sources = plant({ "a.yml": "- uses: actions/checkout\n- uses: actions/cache@main" })
    expect(unpinnedActions(sources)).toEqual(["a.yml uses actions/checkout", "a.yml uses actions/cache@main"])
  })
  it("and stay green for what is there", () => {
    const fine = plant({ "a.yml": "- uses: actions/checkout@v5\n- run: npm run test:long\n- run: npm test" })
    expect([...unknownScripts(fine, ["test:long"]), ...unpinnedActions(fine)]).toEqual([])
  })
})

describe("the rules about SQL turn red", () => {
  it.each([
    "const sql = `\n  select id from {runs}`",
    'const sql = "INSERT INTO runs VALUES (1)"',
    'const sql = "update {runs} as run set state = 1"',
    'const sql = "delete from {runs}"',
    'const sql = "create unique index on {runs} (id)"',
    "const sql = `-- why\nwith due as (select 1) select 2`",
    `const sql = run(\`drop schema \${name} cascade\`)`,
    'const sql = "set local lock_timeout = 1"',
  ])("when the engine says %s", (text) => {
    expect(straySql(plant({ "src/engine/a.ts": text }))).toHaveLength(1)
  })

  it("and stay green for sentences, and below src/store", () => {
    const fine = plant({
      "src/engine/a.ts": `const a = "Select a job from the list"; const b = "update"; const c = "create a job"`,
      "src/engine/b.ts": "// select id from {runs}\nconst set = 1",
      "src/store/runs/find.ts": 'const sql = "select id from {runs}"',
    })
    expect(straySql(fine)).toEqual([])
  })

  it("when a statement is not called by its path", () => {
    const wrong = plant({ "src/store/runs/claim.ts": `statement({ name: "runs/take" })` })
    const elsewhere = plant({
      "src/store/runs/a.ts": `statement({ name: "runs/a" }); statement({ name: "workers/b" })`,
    })
    const computed = plant({ "src/store/runs/claim.ts": `statement({ name: \`\${folder}/claim\` })` })
    expect([wrong, elsewhere, computed].map((sources) => misnamedStatements(sources).length)).toEqual([
      1, 1, 1,
    ])
    expect(
      misnamedStatements(plant({ "src/store/runs/claim.ts": `statement({ name: "runs/claim" })` })),
    ).toEqual([])
  })

  it("when two statements have the same name", () => {
    const statement = `statement({ name: "runs/claim" })`
    expect(
      repeatedStatements(plant({ "src/store/a.ts": statement, "src/store/b.ts": statement })),
    ).toHaveLength(1)
  })
})

describe("the rules about files turn red", () => {
  it.each<[string, Rule, Source[]]>([
    ["one has 401 lines", longFiles, plant({ "src/job/a.ts": "//\n".repeat(401) })],
    [
      "one does not say what it is for",
      unexplainedFiles,
      plant({ "src/job/a.ts": "// a\nexport const a = 1" }),
    ],
    ["one is named in camelCase", misnamedFiles, plant({ "src/job/retryPolicy.ts": "" })],
    ["a migration has no number", misnamedFiles, plant({ "src/store/migrations/runs.sql": "" })],
    ["one is called utils", meaninglessNames, plant({ "src/job/utils.ts": "" })],
    ["a folder is called helpers", meaninglessNames, plant({ "test/helpers/clock.ts": "" })],
    ["a test is skipped", leftOutTests, plant({ "a.test.ts": `it.skip("a", () => {})` })],
    ["a test is alone", leftOutTests, plant({ "a.test.ts": `describe.concurrent.only("a", () => {})` })],
    ["a test is still to come", leftOutTests, plant({ "a.test.ts": `test.todo("a")` })],
    [
      "two tests have the same name",
      repeatedTestNames,
      plant({
        "a.test.ts": `describe("a", () => { it("b", () => {}); it.each([1])("b", () => {}) })`,
      }),
    ],
  ])("when %s", (_, rule, sources) => {
    expect(rule(sources)).toHaveLength(1)
  })

  it("and stay green for what is allowed", () => {
    const fine = plant({
      "src/job/retry-policy.ts": "/** Why. */\nexport const a = 1",
      "src/store/runs/claim.ts": `import { a } from "../a.ts"\n\n/** Why. */\nexport const claim = 1`,
      "src/store/migrations.generated.ts": "// Generated\n".repeat(500),
      "test/types/public.test-d.ts": "/** Types. */",
      "src/a.test.ts": `describe("a", () => it("c", () => {})); describe("b", () => it("c", () => {}))`,
    })
    const rules = [
      longFiles,
      unexplainedFiles,
      misnamedFiles,
      meaninglessNames,
      leftOutTests,
      repeatedTestNames,
    ]
    expect(rules.flatMap((rule) => rule(fine))).toEqual([])
  })
})

describe("the rules about English turn red", () => {
  it.each<[string, Rule, Source[]]>([
    ["a line has 121 columns", longLines, plant({ "src/job/a.ts": `// ${"x".repeat(118)}` })],
    ["a comment says whoever", vagueComments, plant({ "src/job/a.ts": "/** Wakes whoever waits. */" })],
    ["a comment behind code says Nobody", vagueComments, plant({ "test/a.ts": "f() // Nobody waits." })],
    [
      "the name of a group says somebody",
      vagueTexts,
      plant({ "a.test.ts": `describeEngines("a run that somebody cancels", (engine) => {})` }),
    ],
    [
      "the name of a test says nobody",
      vagueTexts,
      plant({ "a.test.ts": `it.each([1])("is told to nobody", () => {})` }),
    ],
    [
      "a text in the rows of a test says anybody",
      vagueTexts,
      plant({ "a.test.ts": `it.each([["before anybody asks", 1]])("%s", () => {})` }),
    ],
    ["a message says nobody", vagueTexts, plant({ "src/job/a.ts": "throw new Error(`nobody knows it`)" })],
    ["a statement says somebody", vagueComments, plant({ "src/store/a.ts": "`\n  -- Somebody has it.\n`" })],
    [
      "a comment in a migration says nobody",
      vagueComments,
      plant({ "src/store/migrations/a.sql": "-- Nobody deletes it.\nselect 1;" }),
    ],
  ])("when %s", (_, rule, sources) => {
    expect(rule(sources)).toHaveLength(1)
  })

  it.each(RETIRED_WORDS.map((word) => [word.example, word] as const))(
    "when a file says: %s",
    (text, word) => {
      expect(retiredWords(plant({ "src/job/a.ts": text }), [word])).toHaveLength(1)
    },
  )

  it("and stay green for what is allowed", () => {
    const fine = plant({
      "src/job/a.ts": `${"x".repeat(120)}\n`,
      "src/job/b.ts": `const user = "nobody" // "somebodies" is another word\nconst url = "https://nobody/"`,
      "src/job/d.ts": "// The system user `nobody` owns nothing.",
      "src/job/c.ts": "const rule = /nobody|whoever/\nconst text = `nobody`",
      "src/store/migrations.generated.ts": `/* nobody */${"x".repeat(200)}`,
      "a.test.ts": `it("stops when no process listens", () => { const nobody = 1 })`,
      "docs/a.md":
        'The workers of a pool take runs lane by lane. `ctx.fencingToken` grows. `overlap: "queue"`, `dst.fold`.',
    })
    const rules = [vagueComments, vagueTexts]
    expect(rules.flatMap((rule) => rule(fine.filter(({ path }) => path.endsWith(".ts"))))).toEqual([])
    expect([...longLines(fine.slice(0, -1)), ...retiredWords(fine)]).toEqual([])
  })
})

describe("the rules about the docs turn red", () => {
  const errors = plant({
    "src/errors.ts": `class OptionsError extends CarillonError { constructor() { super("OPTIONS_INVALID", "") } }`,
    "src/api/a.ts": `throw new OptionsError(); throw new CarillonError("CLOSED", "")`,
  })

  it("when a code is thrown that is not in the table", () => {
    expect(unlistedCodes(["OPTIONS_INVALID"], errors)).toEqual(["CLOSED"])
    expect(unlistedCodes(["OPTIONS_INVALID", "CLOSED"], errors)).toEqual([])
  })

  it("when a code is in the table that is never thrown", () => {
    expect(unthrownCodes(["OPTIONS_INVALID", "CLOSED", "RUN_DEAD"], errors)).toEqual(["RUN_DEAD"])
  })

  it("when a code is not documented", () => {
    expect(undocumented(["CLOSED", "RUN_DEAD"], "| `CLOSED` | After stop. |")).toEqual(["RUN_DEAD"])
  })

  it("when an option says another default than there is", () => {
    const said = (text: string | undefined) =>
      wrongDefaults([{ path: "lease", said: text, governs: "leaseMs" }], { leaseMs: 60_000 }).length
    expect([said('"60s"'), said('"30s"'), said(undefined), said("none")]).toEqual([0, 1, 1, 1])
    expect(wrongDefaults([{ path: "x", said: "1", governs: undefined }], {})).toHaveLength(1)
    const inWords = { path: "x", said: "the pool of the job", governs: undefined }
    expect(wrongDefaults([inWords], {})).toEqual([])
  })

  it("when a page names a file that does not exist", () => {
    const page = { path: "A.md", text: "`src/a.ts` and `test/b/`, but not `npm test` or `a/b`" }
    expect(missingPaths([page], (path) => path === "src/a.ts")).toEqual([
      "A.md names test/b/, which does not exist",
    ])
    expect(missingPaths([page], () => true)).toEqual([])
  })

  it("when a page does not name a file, nor its folder", () => {
    const page = { path: "A.md", text: "`test/a.ts` and `test/b/`" }
    expect(unnamedPaths(page, ["test/a.ts", "test/b/c.ts", "test/d.ts"])).toEqual([
      "A.md does not name test/d.ts",
    ])
  })

  it("when a link leads nowhere", () => {
    const pages = plant({
      "README.md":
        "# A `b`, c\n[1](docs/a.md) [2](docs/b.md) [3](docs/a.md#x-y) [4](docs/a.md#z) [5](#a-b-c) [6](https://a.b)",
      "docs/a.md": "# X y\n```md\n[no](link.md)\n```\n[up](../README.md)",
    })
    const broken = brokenLinks(pages, (path) => pages.some((page) => page.path === path))
    expect(broken).toEqual(["README.md links to docs/b.md", "README.md links to docs/a.md#z"])
  })
})
