import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { defineJob } from "./define.ts"
import { type DeclaredJob, type JobChange, readSettings, reconcile, settingsOf } from "./reconcile.ts"
import { compareVersions } from "./version.ts"

const declaration = (settings: object, version: string | null = null): DeclaredJob => ({
  name: "greet",
  settings: settingsOf(settings),
  version,
})

/** The one verdict about the one job. */
function judge(declared: DeclaredJob, stored?: DeclaredJob) {
  const verdicts = reconcile([declared], stored ? [stored] : [])
  expect(verdicts).toHaveLength(1)
  return verdicts[0]
}

describe("settingsOf", () => {
  it("holds everything that is set about a job, and neither its name nor its code", () => {
    const job = defineJob({ name: "greet", pool: "slow", retry: { attempts: 3 }, run: async () => {} })
    expect(settingsOf(job)).toMatchObject({ pool: "slow", retry: { attempts: 3 }, timeoutMs: null })
    for (const key of ["name", "parse", "execute"]) expect(settingsOf(job)).not.toHaveProperty(key)
  })

  it("names a function as such, and describes what JSON cannot hold", () => {
    const settings = {
      retry: () => 1_000,
      cap: Number.POSITIVE_INFINITY,
      big: 10n,
      at: new Date(0),
      of: new Map(),
      list: [undefined, () => 1],
      nothing: undefined,
      deep: { wait: () => 1, nothing: undefined },
    }
    expect(settingsOf(settings)).toEqual({
      retry: "(function)",
      cap: "Infinity",
      big: "10",
      at: "1970-01-01T00:00:00.000Z",
      of: "(object)",
      list: [null, "(function)"],
      deep: { wait: "(function)" },
    })
  })
})

describe("a declared job", () => {
  it("is new when no process has declared it before", () => {
    expect(judge(declaration({ pool: "a" }))).toEqual({ job: "greet", verdict: "new" })
  })

  it("is unchanged when it is declared as it was, whatever the order of its settings", () => {
    const stored = declaration({ retry: { attempts: 5, baseMs: 1 }, pool: "a", list: [{ a: 1, b: 2 }] })
    const declared = declaration({ list: [{ b: 2, a: 1 }], pool: "a", retry: { baseMs: 1, attempts: 5 } })
    expect(judge(declared, stored)).toEqual({ job: "greet", verdict: "unchanged", advances: false })
  })

  it("has changed field by field, in the order of its settings, what has gone last", () => {
    const stored = declaration({ old: 1, pool: "a", retry: { attempts: 5, baseMs: 10 }, timeoutMs: null })
    const declared = declaration({ pool: "b", retry: { attempts: 3, baseMs: 10 }, timeoutMs: 500 })
    expect(judge(declared, stored)).toEqual({
      job: "greet",
      verdict: "changed",
      changes: [
        { field: "pool", before: "a", after: "b" },
        { field: "retry.attempts", before: 5, after: 3 },
        { field: "timeoutMs", before: null, after: 500 },
        { field: "old", before: 1, after: null },
      ],
    })
  })

  it.each([
    [{ retry: { attempts: 5 } }, { retry: () => 1 }, "retry", { attempts: 5 }, "(function)"],
    [{}, { concurrency: { most: 3 } }, "concurrency.most", null, 3],
    [{ concurrency: null }, { concurrency: { most: 3 } }, "concurrency.most", null, 3],
    [{ list: [1, 2] }, { list: [1, 2, 3] }, "list", [1, 2], [1, 2, 3]],
    [{ by: { "a.b": 1 } }, { by: { "a.b": 2 } }, 'by["a.b"]', 1, 2],
    [{}, { constructor: 1 }, "constructor", null, 1],
  ])("that was %j and is %j differs in %s", (before, after, field, was, is) => {
    expect(judge(declaration(after), declaration(before))).toMatchObject({
      verdict: "changed",
      changes: [{ field, before: was, after: is }],
    })
  })

  it.each([
    [{}, { timeoutMs: null }],
    [{ timeoutMs: null }, {}],
    [{ concurrency: {} }, {}],
  ])("that was %j and is %j has not changed: nothing is nothing", (before, after) => {
    expect(judge(declaration(after), declaration(before))).toMatchObject({ verdict: "unchanged" })
  })

  it.each([
    ["1.9", "1.10"],
    ["1.0.0-rc.1", "1.0.0"],
    [null, "1.0"],
  ])("of version %s never overwrites one of version %s", (version, later) => {
    const [declared, stored] = [declaration({ pool: "a" }, version), declaration({ pool: "b" }, later)]
    expect(judge(declared, stored)).toEqual({
      job: "greet",
      verdict: "older",
      declared: version,
      stored: later,
    })
    expect(judge({ ...declared, settings: stored.settings }, stored)).toMatchObject({
      verdict: "unchanged",
      advances: false,
    })
  })

  it.each([
    ["1.10", "1.9", true],
    ["1.0", null, true],
    ["1.0", "1.0.0", false],
    [null, null, false],
  ])("of version %s overwrites one of version %s", (version, earlier, advances) => {
    const [declared, stored] = [declaration({ pool: "a" }, version), declaration({ pool: "b" }, earlier)]
    expect(judge(declared, stored)).toMatchObject({ verdict: "changed" })
    expect(judge({ ...declared, settings: stored.settings }, stored)).toMatchObject({
      verdict: "unchanged",
      advances,
    })
  })
})

describe("reconcile", () => {
  const name = fc.constantFrom("a", "b", "c", "d")
  const version = fc.constantFrom(null, "1", "1.1", "1.1-rc.1", "1.10", "2")
  const settings = fc.dictionary(
    fc.constantFrom("pool", "retry", "toString", "a.b"),
    fc.oneof({ maxDepth: 3 }, fc.constantFrom(null, 0, 1, "x"), fc.jsonValue({ maxDepth: 3 })),
  )
  const job = fc.record({ name, version, settings })
  const jobs = fc.uniqueArray(job, { selector: (entry) => entry.name })

  /** What the store makes of the verdicts. */
  function apply(declared: readonly DeclaredJob[], stored: readonly DeclaredJob[]): DeclaredJob[] {
    const after = new Map(stored.map((entry) => [entry.name, entry]))
    for (const [index, { job, ...verdict }] of reconcile(declared, stored).entries()) {
      const writes =
        verdict.verdict === "new" ||
        verdict.verdict === "changed" ||
        ("advances" in verdict && verdict.advances)
      const entry = declared[index]
      if (writes && entry) after.set(job, entry)
    }
    return [...after.values()]
  }
  const versionOf = (entries: readonly DeclaredJob[], of: string) =>
    entries.find((entry) => entry.name === of)?.version ?? null

  it("judges every declared job once, in their order", () => {
    fc.assert(
      fc.property(jobs, jobs, (declared, stored) => {
        expect(reconcile(declared, stored).map((entry) => entry.job)).toEqual(
          declared.map((entry) => entry.name),
        )
      }),
    )
  })

  it("is content with what it has made: a second look finds nothing new and nothing changed", () => {
    fc.assert(
      fc.property(jobs, jobs, (declared, stored) => {
        const second = reconcile(declared, apply(declared, stored))
        for (const entry of second) expect(["unchanged", "older"]).toContain(entry.verdict)
      }),
    )
  })

  it("forgets no job and lets no version go back", () => {
    fc.assert(
      fc.property(jobs, jobs, (declared, stored) => {
        const after = apply(declared, stored)
        for (const { name: of, version: before } of stored) {
          const now = versionOf(after, of)
          expect(after.some((entry) => entry.name === of)).toBe(true)
          if (before !== null) expect(now !== null && compareVersions(now, before) >= 0).toBe(true)
        }
      }),
    )
  })

  it("ends with the latest version, in whatever order processes of different versions start", () => {
    const fleet = fc.uniqueArray(fc.tuple(fc.constantFrom("1", "1.1-rc.1", "1.1", "1.10", "2"), settings), {
      minLength: 1,
      selector: ([entry]) => entry,
    })
    fc.assert(
      fc.property(fleet, fc.func(fc.nat()), (processes, chance) => {
        const started = processes.toSorted((x, y) => chance(x[0]) - chance(y[0]))
        let stored: DeclaredJob[] = []
        for (const [of, its] of started) stored = apply([{ name: "a", version: of, settings: its }], stored)
        const [latest] = processes.toSorted((x, y) => compareVersions(y[0], x[0]))
        expect(versionOf(stored, "a")).toBe(latest?.[0])
        const same = reconcile([{ name: "a", version: null, settings: latest?.[1] ?? {} }], stored)
        expect(same).toMatchObject([{ verdict: "unchanged" }])
      }),
    )
  })

  it("tells changes that turn the one into the other, as JSON keeps them", () => {
    const plain = fc.dictionary(
      fc.constantFrom("pool", "retry", "timeoutMs"),
      fc.oneof(
        fc.integer(),
        fc.string(),
        fc.constant(null),
        fc.dictionary(fc.constantFrom("x", "y"), fc.nat()),
      ),
    )
    fc.assert(
      fc.property(plain, plain, (before, after) => {
        const stored = { name: "a", version: null, settings: readSettings(JSON.stringify(before)) }
        const [verdict] = reconcile([{ name: "a", version: null, settings: settingsOf(after) }], [stored])
        const changes = verdict?.verdict === "changed" ? verdict.changes : []
        expect(leaves(replay(before, changes))).toEqual(leaves(after))
      }),
    )
  })
})

/** The settings after the changes, as a reader of the log would write them. */
function replay(before: Readonly<Record<string, unknown>>, changes: readonly JobChange[]): object {
  const result: Record<string, unknown> = { ...before }
  for (const { field, after } of changes) {
    const [key = "", inner] = field.split(".")
    if (inner === undefined) result[key] = after
    else {
      const holder = result[key]
      const object = typeof holder === "object" && holder !== null ? holder : {}
      result[key] = { ...object, [inner]: after }
    }
  }
  return result
}

/** What is said, without what is nothing. */
function leaves(settings: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([key, value]) => {
      if (value === null || value === undefined) return []
      if (typeof value !== "object") return [[key, value]]
      const inner = leaves(value)
      return Object.keys(inner).length > 0 ? [[key, inner]] : []
    }),
  )
}
