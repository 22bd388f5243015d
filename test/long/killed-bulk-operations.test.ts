/** A bulk operation replays a large group of dead letters at its pace while workers are killed: each run once. */
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { createCarillon } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { openServer } from "../../src/store/server/server.ts"
import { newSchema } from "../support/engines.ts"
import { startProcess, type WorkerProcess } from "../support/process/worker-process.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { SILENT } from "../support/watched-app.ts"

const LETTERS = 100_000
const GROUPS = 12
/** The letters of the largest group. The others share the rest. */
const REPLAYED = 34_000
const KILLS = 10
const PER_SECOND = 1_000
/** Two batches may come one right after the other, if the first is late. */
const LARGEST_BURST = PER_SECOND + 2 * 100
const WORKERS = 2

const host = createSystemHost()
const url = SERVER_URLS.postgres18
let folder: string
let workers: WorkerProcess[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "carillon-bulk-"))
  workers = []
})
afterEach(async () => {
  for (const worker of workers) worker.kill("SIGKILL")
  await Promise.all(workers.map((worker) => worker.ended))
  await rm(folder, { recursive: true, force: true })
})

/** Letters of one job, in the order of their ids and of twelve fingerprints. */
async function die(database: Database): Promise<void> {
  await execute(
    database,
    `insert into {dead_letters} (run, job, pool, priority, attempts, enqueued_at, died_at, input, fingerprint,
       error_code, error_message)
     select ('01890a5d-' || lpad(to_hex(n / 65536), 4, '0') || '-7' || lpad(to_hex(n % 4096), 3, '0') || '-8000-' ||
       lpad(to_hex(n), 12, '0'))::uuid, 'effect', 'default', 0, 5, now() - interval '1 day', now(), to_json(n),
       'error' || case when n % 100 < ${(REPLAYED / LETTERS) * 100} then 0 else 1 + n % ${GROUPS - 1} end,
       'E_BANK', 'the bank is closed'
     from generate_series(0, ${LETTERS - 1}) as n`,
  )
}

it("is carried on by other processes when one is killed, ten times, and replays each run once", async () => {
  const schema = newSchema(host)
  const effects = join(folder, "effects")
  await using carillon = createCarillon({ database: url, schema, logger: SILENT })
  await carillon.migrate()
  const database = openServer(host, { url, schema })
  await die(database)
  const options = { database: url, schema, effects, lease: "2s", pools: { default: 100 } }
  const spawn = async () => {
    const worker = startProcess(options, "worker.mjs")
    workers.push(worker)
    await worker.call("start")
    return worker
  }
  const living = await Promise.all(Array.from({ length: WORKERS }, spawn))
  /** The first event that one of the living tells. */
  const told = (type: string, seen: number) =>
    Promise.race(
      living.map((each) =>
        each.until(type, ({ progress }) => (progress as { readonly seen: number }).seen >= seen),
      ),
    )

  const { items: groups } = await carillon.deadLetters.groups({ job: "effect", upTo: LETTERS })
  expect(groups).toHaveLength(GROUPS)
  const filter = { job: "effect", fingerprint: "error0" }
  const request = { action: "replay", filter } as const
  expect(await carillon.bulk.preview({ ...request, upTo: LETTERS })).toMatchObject({ count: REPLAYED })
  const { id } = await carillon.bulk.start({ ...request, pace: `${PER_SECOND}/s` })
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await told("bulk.progress", (kill * REPLAYED) / (KILLS + 2))
    const victim = living.shift()
    victim?.kill("SIGKILL")
    await victim?.ended
    living.push(await spawn())
  }
  await told("bulk.finished", REPLAYED)
  const none = { failed: 0, skipped: 0 }
  expect(await carillon.bulk.get(id)).toMatchObject({
    ...{ state: "done", progress: { seen: REPLAYED, done: REPLAYED, ...none } },
  })
  const first = async (sql: string) => (await rowsOf(database, sql))[0]
  const replays = "select count(*)::int as entries, count(distinct subject)::int as runs from {audit}"
  expect(await first(`${replays} where action = 'run.replay'`)).toEqual({ entries: REPLAYED, runs: REPLAYED })
  const within =
    "count(*) over (order by at range between interval '1 second' preceding and current row) as n"
  const burst = await first(
    `select max(n)::int as most from (select ${within} from {audit} where action = 'run.replay') as each`,
  )
  expect(burst?.["most"]).toBeLessThanOrEqual(LARGEST_BURST)
  await vi.waitUntil(async () => (await first("select count(*)::int as n from {runs}"))?.["n"] === 0, {
    timeout: 120_000,
    interval: 500,
  })
  const ended = "select count(*)::int as ends, count(distinct run)::int as runs from {attempts}"
  expect(await first(`${ended} where generation = 2 and run_state = 'succeeded'`)).toEqual({
    ...{ ends: REPLAYED, runs: REPLAYED },
  })
  expect(await first("select count(*)::int as n from {dead_letters}")).toEqual({ n: LETTERS - REPLAYED })
  const executed = (await readFile(effects, "utf8")).trim().split("\n")
  expect(new Set(executed.map((line) => line.split(" ")[0])).size).toBe(REPLAYED)
  await database.close()
}, 600_000)
