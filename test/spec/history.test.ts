import fc from "fast-check"
import { beforeAll, expect, it } from "vitest"
import { type HistoryOptions, listHistory } from "../../src/api/runs/history.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { makePartitions } from "../../src/store/attempts/partitions.ts"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { takeClock } from "../../src/testing/clock.ts"
import { describeEngines } from "../support/engines.ts"
import { execute } from "../support/sql.ts"

const host = createSystemHost()
const JOBS = ["bill", "greet", "report"]
const TENANTS = ["", "acme", "globex"]
const CLASSES = ["short", "standard", "long"]
const STATES = [null, "succeeded", "dead", "cancelled"] as const
const DAYS = Array.from({ length: 12 }, (_, day) => `2026-03-${String(day + 1).padStart(2, "0")}`)

interface Row {
  readonly run: string
  readonly claim: bigint | null
  /** To the microsecond. */
  readonly finished: string
  readonly job: string
  readonly tenant: string
  readonly state: (typeof STATES)[number]
  readonly history: string
}

/** Attempts of which many ended at the same moment, some of one run, and many one microsecond after another. */
function rowsFrom(seed: number, count: number): Row[] {
  const pick = <T>(from: readonly T[], by: number): T => from[by % from.length] as T
  const runs = DAYS.map(() => host.newId())
  const unclaimed = new Set<string>()
  return Array.from({ length: count }, (_, index) => {
    const n = index * 7 + seed
    const run = n % 2 === 0 ? host.newId() : pick(runs, n * 5)
    const state = pick(STATES, n)
    // One run ends once without having been claimed.
    const isUnclaimed = state === "cancelled" && !unclaimed.has(run)
    if (isUnclaimed) unclaimed.add(run)
    return {
      run,
      // Some are negative, as half of all claims are.
      claim: isUnclaimed ? null : BigInt(n % 4 < 2 ? n : -n),
      finished: `${pick(DAYS, n * 5)}T23:59:59.99900${index % 3}Z`,
      job: pick(JOBS, n),
      tenant: pick(TENANTS, n >> 1),
      state,
      history: pick(CLASSES, n >> 2),
    }
  })
}

async function write(database: Database, rows: readonly Row[]): Promise<void> {
  const values = rows.map(({ run, claim, finished, job, tenant, state, history }) => {
    const [ended, input] = state === null ? ["null", "null"] : [`'${state}'`, "'0'"]
    const outcome = state === "cancelled" ? "cancelled" : "failed"
    return `('${run}', ${claim}, 1, '${job}', 'default', '${finished}', '${finished}', '${finished}', '${outcome}',
      ${ended}, ${input}, '${history}', '${tenant}')`
  })
  await execute(
    database,
    `insert into {attempts} (run, claim, attempt, job, pool, enqueued_at, due_at, finished_at, outcome, run_state,
       input, history, tenant)
     values ${values.join(", ")}`,
  )
}

/** What the pages should hold together, newest first. */
function expectedOf(rows: readonly Row[], options: HistoryOptions): string[] {
  const { job, tenant, state, from, to } = options
  return rows
    .filter((row) => job === undefined || row.job === job)
    .filter((row) => tenant === undefined || row.tenant === tenant)
    .filter((row) => state === undefined || row.state === state)
    .filter((row) => from === undefined || row.finished >= from.toISOString().replace("Z", "000Z"))
    .filter((row) => to === undefined || row.finished < to.toISOString().replace("Z", "000Z"))
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1))
    .map(nameOf)
}

/** The order of pages: a claim is a signed number, and no claim sorts before every claim. */
function placeOf({ finished, run, claim }: Row): string {
  return `${finished} ${run} ${claim === null ? "" : String(claim + 2n ** 63n).padStart(20, "0")}`
}

function nameOf({ run, claim }: Row): string {
  return `${run}.${claim === null ? "-" : BigInt.asUintN(64, claim).toString(16).padStart(16, "0")}`
}

/** Every page until the last, each with the names of its attempts. */
async function readPages(runtime: Runtime, options: HistoryOptions): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor: string | undefined; pages.length === 0 || cursor; ) {
    const page = await listHistory(runtime, { ...options, ...(cursor && { cursor }) })
    pages.push(page.attempts.map(({ id }) => id))
    cursor = page.cursor
  }
  return pages
}

describeEngines("history in pages", (engine) => {
  const rows = rowsFrom(1, 150)
  let runtime: Runtime

  beforeAll(async () => {
    const database = await engine.open()
    runtime = { ...host, database }
    await migrate(runtime)
    const clock = await takeClock(database, "2026-03-01T09:00Z")
    await makePartitions(database)
    // The clock was set back after the last of them.
    await clock.set("2026-03-08T09:00Z")
    await makePartitions(database)
    await write(database, rows)
  })

  const moment = fc.constantFrom(...DAYS.flatMap((day) => [`${day}T00:00Z`, `${day}T23:59:59.999Z`]))
  const query = fc.record(
    {
      job: fc.constantFrom(...JOBS, "unknown"),
      tenant: fc.constantFrom("acme", "globex", "unknown"),
      state: fc.constantFrom("succeeded", "dead", "cancelled", "expired"),
      from: moment.map((at) => new Date(at)),
      to: moment.map((at) => new Date(at)),
    },
    { requiredKeys: [] },
  )

  it("holds every attempt once, newest first, for every filter and page length", async () => {
    const limits = fc.constantFrom(1, 2, 7, 50, 149, 150, 1_000)
    await fc.assert(
      fc.asyncProperty(query as fc.Arbitrary<HistoryOptions>, limits, async (options, limit) => {
        const expected = expectedOf(rows, options)
        fc.pre(expected.length / limit < 20)
        const pages = await readPages(runtime, { ...options, limit })
        expect(pages.flat()).toEqual(expected)
        expect(pages).toHaveLength(Math.max(1, Math.ceil(expected.length / limit)))
      }),
      {
        numRuns: 60,
        examples: [
          [{}, 50],
          [{}, 150],
          ...DAYS.slice(5, 8).flatMap((day): [HistoryOptions, number][] => [
            [{ from: new Date(`${day}T23:59:59.999Z`) }, 50],
            [{ to: new Date(`${day}T23:59:59.999Z`) }, 50],
          ]),
          [{ job: "greet", tenant: "acme" }, 2],
        ],
      },
    )
  })

  it("names attempts without a claim, and the occurrences they stand for", async () => {
    const [run, other] = [host.newId(), host.newId()]
    const midnight = "'2026-03-02T00:00Z'"
    await execute(
      runtime.database,
      `insert into {attempts} (run, claim, attempt, job, pool, enqueued_at, due_at, started_at, finished_at, outcome,
         charged, cause, worker, version, tenant, schedule, occurrence, generation)
       values ('${run}', null, 1, 'nightly', 'default', ${midnight}, ${midnight}, null,
           '2026-03-02T00:00:01Z', 'cancelled', false, null, null, null, '', 'backup', '2026-03-02T02:30Z', 1),
         ('${other}', -1, 1, 'nightly', 'default', ${midnight}, ${midnight}, ${midnight},
           '2026-03-02T00:00:01.5Z', 'lost', true, 'replayed', 'host-1', '1.2.3', 'acme', null, null, 2)`,
    )
    const { attempts } = await listHistory(runtime, { job: "nightly" })
    expect(attempts).toEqual([
      {
        ...{ id: `${other}.ffffffffffffffff`, runId: other, generation: 2, attempt: 1, charged: true },
        ...{
          cause: "replayed",
          job: "nightly",
          pool: "default",
          tenant: "acme",
          idempotencyKey: `run:${other}`,
        },
        ...{ worker: "host-1", version: "1.2.3", outcome: "lost", durationMs: 1_500 },
        ...{ enqueuedAt: new Date("2026-03-02T00:00Z"), dueAt: new Date("2026-03-02T00:00Z") },
        ...{ startedAt: new Date("2026-03-02T00:00Z"), finishedAt: new Date("2026-03-02T00:00:01.5Z") },
      },
      {
        ...{ id: `${run}.-`, runId: run, generation: 1, attempt: 1, charged: false },
        ...{ job: "nightly", pool: "default", schedule: { id: "backup", name: "backup" } },
        occurrence: new Date("2026-03-02T02:30Z"),
        ...{ idempotencyKey: `run:${run}`, outcome: "cancelled" },
        ...{ enqueuedAt: new Date("2026-03-02T00:00Z"), dueAt: new Date("2026-03-02T00:00Z") },
        finishedAt: new Date("2026-03-02T00:00:01Z"),
      },
    ])
    await execute(runtime.database, "delete from {attempts} where job = 'nightly'")
  })

  it("has 100 attempts on a page by default", async () => {
    expect((await readPages(runtime, {})).map(({ length }) => length)).toEqual([100, 50])
  })

  it("neither repeats nor omits an attempt from before the first page, whatever ends meanwhile", async () => {
    const before = expectedOf(rows, { tenant: "acme" })
    const pages: string[][] = []
    for (let cursor: string | undefined, n = 0; n === 0 || cursor; n += 1) {
      const page = await listHistory(runtime, { tenant: "acme", limit: 9, ...(cursor && { cursor }) })
      pages.push(page.attempts.map(({ id }) => id))
      cursor = page.cursor
      await write(runtime.database, rowsFrom(n, 12))
    }
    const known = new Set(before)
    expect(pages.flat().filter((name) => known.has(name))).toEqual(before)
    expect(new Set(pages.flat()).size).toBe(pages.flat().length)
  })

  it.each<[string, unknown]>([
    ["no text", 7],
    ["nothing", ""],
    ["no base64", "§§§"],
    ["no JSON", btoa("{")],
    ["no list", btoa("{}")],
    ["no time", btoa(JSON.stringify(["soon", host.newId(), "1"]))],
    ["a day that does not exist", btoa(JSON.stringify(["2026-13-01T00:00:00.000000Z", host.newId(), "1"]))],
    ["no run", btoa(JSON.stringify(["2026-03-01T00:00:00.000000Z", "me", "1"]))],
    ["no claim", btoa(JSON.stringify(["2026-03-01T00:00:00.000000Z", host.newId(), "1; drop"]))],
    [
      "too large a claim",
      btoa(JSON.stringify(["2026-03-01T00:00:00.000000Z", host.newId(), "9".repeat(19)])),
    ],
    ["too much", btoa(JSON.stringify(["2026-03-01T00:00:00.000000Z", host.newId(), "1", "2"]))],
  ])("refuses a cursor that is %s, with its own words", async (_, cursor) => {
    await expect(listHistory(runtime, { cursor } as HistoryOptions)).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      faults: [{ path: "cursor", message: expect.stringContaining("the cursor of an earlier page") }],
    })
  })

  it("refuses unknown options, all at once", async () => {
    const wrong = {
      limit: 0,
      state: "alive",
      from: "yesterday",
      to: new Date(-1),
      tennant: "acme",
      job: "a\0b",
    }
    await expect(listHistory(runtime, wrong as unknown as HistoryOptions)).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      faults: [
        { path: "tennant", message: expect.stringContaining('did you mean "tenant"?') },
        ...["job", "state", "from", "to", "limit"].map((path) => ({ path })),
      ],
    })
    await expect(listHistory(runtime, { limit: 1_001 })).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
  })
})
