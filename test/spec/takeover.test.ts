/** A killed worker is not waited for where its death is certain; otherwise its lease decides. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { createReaper } from "../../src/engine/process/reaper.ts"
import type { CarillonEvent } from "../../src/observe/events.ts"
import type { ProcessProof } from "../../src/runtime/process-proof.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { registerWorker } from "../../src/store/workers/register.ts"
import { describeEngines, newSchema } from "../support/engines.ts"
import { LEASE_MS, leaseOn } from "../support/lease.ts"
import { linesOf } from "../support/log-lines.ts"
import { startWorkerProcess } from "../support/process/worker-process.ts"
import { claim, insert } from "../support/runs.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"

const host = createSystemHost()
const { signal } = new AbortController()
const HOUR_MS = 3_600_000

it.skipIf(process.platform !== "linux")(
  "the only worker, killed, has its runs taken over by the next one at once",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "carillon-takeover-"))
    onTestFinished(() => rm(folder, { recursive: true }))
    const place = {
      database: SERVER_URLS.postgres18,
      schema: newSchema(host),
      effects: join(folder, "effects"),
    }
    // A worker that waited for this lease would not see the end of the test.
    const first = startWorkerProcess({ ...place, lease: "24h", slowMs: HOUR_MS })
    await first.call("start")
    const run = await first.call<string>("enqueue", { input: 1 })
    await first.until("attempt.started")
    first.kill("SIGKILL")
    await first.ended
    const second = startWorkerProcess({ ...place, lease: "24h" })
    await second.call("start")
    expect(await second.call("result", { run })).toEqual({ by: second.pid, input: 1 })
    expect(await second.until("lease.reaped")).toMatchObject({ runs: 1 })
    expect(await second.call("attempts", { run })).toMatchObject([
      { outcome: "lost", attempt: 1 },
      { outcome: "succeeded" },
    ])
    await second.call("stop")
    second.hangUp()
    await second.ended
  },
)

describeEngines(
  "a worker that starts",
  (engine) => {
    const HOME = "here/boot/pid:[1]"

    /** A process with a run under a long lease, and another that has just started. */
    async function stage(left: { home: string | null; born: string | null }, isGone: ProcessProof["isGone"]) {
      const runtime = await engine.migrated()
      const { database } = runtime
      const [id] = await insert(database, {})
      const lease = host.newId()
      const process = { hostname: "here", pid: 17, pools: [], jobs: [], version: null, leaseMs: HOUR_MS }
      await database.run(registerWorker, { lease, ...process, ...left })
      await claim(database, lease)
      const successor: Runtime = {
        ...runtime,
        processes: { self: { home: HOME, born: "1" }, isGone },
      }
      const own = leaseOn(successor)
      await own.lease.open()
      const events: CarillonEvent[] = []
      const reaper = createReaper({
        runtime: successor,
        events: {
          emit: (event) => void events.push(event),
          subscribe: () => () => {},
          hearsRoutine: () => true,
        },
        lease: own.lease,
        leaseMs: LEASE_MS,
        everyMs: LEASE_MS,
        onReady: () => {},
        onRoom: () => {},
        onLost: () => {},
      })
      const isHeld = async () =>
        (await rowsOf(database, `select from {runs} where id = '${id}' and lease = '${lease}'`)).length === 1
      return { reaper, events, lease, isHeld, proven: successor }
    }

    it("takes over from a process of its host that is proven dead, and from no other", async () => {
      const asked: unknown[] = []
      const isGone = (...mark: unknown[]) => asked.push(mark) > 0
      const { reaper, events, lease, isHeld } = await stage({ home: HOME, born: "42" }, isGone)
      await reaper.tick(signal)
      expect(asked).toEqual([[17, "42"]])
      expect(await isHeld()).toBe(false)
      expect(events).toEqual([{ type: "lease.reaped", leases: [lease], runs: 1 }])
    })

    it("leaves a live process of its host alone, and does not wait for it", async () => {
      const { reaper, events, isHeld } = await stage({ home: HOME, born: "42" }, () => false)
      await reaper.tick(signal)
      expect(await isHeld()).toBe(true)
      expect(events).toEqual([])
    })

    it("judges a live process dead at most once, as in a copy of a running machine", async () => {
      const asked: unknown[] = []
      const { reaper, proven } = await stage({ home: null, born: null }, (pid) => asked.push(pid) > 0)
      const copy = leaseOn(proven)
      await copy.lease.open()
      await reaper.tick(signal)
      expect(asked).toHaveLength(1)
      await copy.lease.tick(signal)
      expect(copy.lost).toMatchObject([{ because: "dead" }])
      await reaper.tick(signal)
      await copy.lease.tick(signal)
      expect([asked.length, copy.lost.length]).toEqual([1, 1])
    })

    it.each<[string, { home: string | null; born: string | null }]>([
      ["of another namespace", { home: "here/boot/pid:[2]", born: "42" }],
      ["of another boot", { home: "here/other/pid:[1]", born: "42" }],
      ["of another host", { home: "there/boot/pid:[1]", born: "42" }],
      ["without a mark", { home: null, born: null }],
    ])("never judges a process %s, and says once until when its runs may wait", async (_, left) => {
      const { reaper, events, isHeld } = await stage(left, () => true)
      await reaper.tick(signal)
      await reaper.tick(signal)
      expect(await isHeld()).toBe(true)
      expect(events).toEqual([{ type: "leases.awaited", workers: ["here:17"], until: expect.any(Date) }])
      expect(linesOf(events)).toEqual([
        expect.stringMatching(
          /^info: 1 other worker \(here:17\) held runs .* by \d{4}-\d\d-\d\dT[\d:.]+Z, and then/,
        ),
      ])
    })
  },
  ["PostgreSQL 14", "PostgreSQL 18"],
)
