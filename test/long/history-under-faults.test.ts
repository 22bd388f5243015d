/** Real processes under real faults, each history checked as a whole: nothing lost, nothing twice without a reason. */
import { describe, expect, it } from "vitest"
import type { History } from "../support/history/operations.ts"
import { recordedWorld } from "../support/process/recorded-world.ts"
import type { WorkerProcess } from "../support/process/worker-process.ts"
import { execute } from "../support/sql.ts"

/** Resolves when the process has finished so many attempts. */
const untilFinished = (worker: WorkerProcess, count: number) =>
  worker.until("counts", ({ finished }) => Number(finished) >= count)

describe("processes that die", () => {
  it("by kill -9, one after the other under load, lose nothing", { timeout: 120_000 }, async () => {
    const world = await recordedWorld()
    // Serves another pool, so that the work is left for the processes that die.
    const client = await world.worker({ pools: { elsewhere: 1 } })
    const runs: string[] = []
    for (let life = 0; life < 3; life += 1) {
      const victim = await world.worker()
      const producing = client.call<string[]>("produce", { count: 70, input: { ms: 5, failUntil: 2 } })
      await untilFinished(victim, 20)
      victim.kill("SIGKILL")
      await victim.ended
      runs.push(...(await producing))
    }
    const heir = await world.worker()
    expect(runs).toHaveLength(210)
    expect(new Set(await client.call<string[]>("ends", { runs }))).toEqual(new Set(["succeeded"]))
    await Promise.all([client.call("stop"), heir.call("stop")])
    const { statistics } = await world.judge()
    expect(statistics.lost).toBeGreaterThan(0)
  })

  it("of a poisonous run end it alone, not the 40 beside it nor the 1,000 behind it", {
    timeout: 120_000,
  }, async () => {
    const world = await recordedWorld()
    const client = world.spawn()
    const innocent = await client.call<string[]>("produceMany", { count: 1_040, input: { ms: 1 } })
    const [poison = ""] = await client.call<string[]>("produce", {
      job: "poison",
      count: 1,
      settings: { priority: 1 },
    })
    let deaths = 0
    for (let worker = await world.worker({ slots: 41 }); ; worker = await world.worker({ slots: 41 })) {
      const ended = client.call<string[]>("ends", { runs: [poison] }).then(([end]) => end)
      if ((await Promise.race([ended, worker.ended])) === "dead") break
      deaths += 1
    }
    // One free loss, then as many as it has attempts.
    expect(deaths).toBe(4)
    expect(new Set(await client.call<string[]>("ends", { runs: innocent }))).toEqual(new Set(["succeeded"]))
    const { statistics } = await world.judge()
    expect(statistics.dead).toBe(1)
  })
})

describe("a process that sleeps past its lease", () => {
  it("and wakes up finds itself fenced, whatever result it has", async () => {
    const world = await recordedWorld()
    const sleeper = await world.worker({ slots: 10 })
    const runs = await sleeper.call<string[]>("produce", { job: "stubborn", count: 30, input: { ms: 900 } })
    await sleeper.until("counts", ({ started }) => Number(started) > 0)
    sleeper.kill("SIGSTOP")
    const heir = await world.worker()
    expect(new Set(await heir.call<string[]>("ends", { runs }))).toEqual(new Set(["succeeded"]))
    sleeper.kill("SIGCONT")
    await sleeper.until("lease.lost")
    await sleeper.call("stop")
    await heir.call("stop")
    const { statistics } = await world.judge()
    expect(statistics.fenced).toBeGreaterThan(0)
  })
})

describe("processes whose clocks are an hour off", () => {
  it("one ahead and one behind, work together as if they were right", async () => {
    const world = await recordedWorld()
    const hour = 3_600_000
    const workers = await Promise.all([
      world.worker({ clockOffMs: hour }),
      world.worker({ clockOffMs: -hour }),
      world.worker(),
    ])
    const all = await Promise.all(
      workers.map((worker) =>
        worker.call<string[]>("produce", { count: 60, input: { ms: 2, failUntil: 2 } }),
      ),
    )
    const [first] = workers
    const ends = await first?.call<string[]>("ends", { runs: all.flat() })
    expect(new Set(ends)).toEqual(new Set(["succeeded"]))
    await Promise.all(workers.map((worker) => worker.call("stop")))
    const { statistics, judged } = await world.judge()
    expect(statistics.duplicates).toBe(180)
    expect(judged.I28).toBeGreaterThan(0)
  })
})

describe("a snapshot that is held open", () => {
  it("does not keep runs from being claimed, settled and reported", async () => {
    const world = await recordedWorld()
    const worker = await world.worker()
    await worker.call("produce", { count: 1 })
    const reader = world.database()
    const reading = reader.transaction(async (tx) => {
      await tx.script(
        "set transaction isolation level repeatable read; select count(*) from {runs}, {attempts}",
      )
      const runs = await worker.call<string[]>("produceMany", { count: 3_000 })
      expect(new Set(await worker.call<string[]>("ends", { runs }))).toEqual(new Set(["succeeded"]))
    })
    await reading
    await worker.call("stop")
    await world.judge()
  })
})

describe("a server that ends every session, again and again", () => {
  it("five times a second loses nothing", async () => {
    const world = await recordedWorld()
    const workers = await Promise.all([world.worker({ lease: "5s" }), world.worker({ lease: "5s" })])
    const killer = world.database()
    let isOver = false
    const killing = (async () => {
      while (!isOver) {
        await execute(
          killer,
          `do $$ begin perform pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'carillon' and pid <> pg_backend_pid() and query like '%${world.schema}%';
            perform pg_sleep(0.2); end $$`,
        )
      }
    })()
    const all = await Promise.all(
      workers.map((worker) =>
        worker.call<string[]>("produce", { count: 150, input: { ms: 10, failUntil: 2 } }),
      ),
    )
    const [first] = workers
    const ends = first?.call<string[]>("ends", { runs: all.flat() })
    await Promise.race([ends, untilFinished(workers[1] as WorkerProcess, 100)])
    isOver = true
    await killing
    expect(new Set(await ends)).toEqual(new Set(["succeeded"]))
    await Promise.all(workers.map((worker) => worker.call("stop")))
    await world.judge()
  })
})

describe("a limit of one under eight processes", () => {
  it("is never exceeded and never stuck, also when they are killed", { timeout: 120_000 }, async () => {
    const world = await recordedWorld()
    const client = await world.worker({ slots: 2 })
    const runs = await client.call<string[]>("produceMany", { job: "single", count: 150, input: { ms: 2 } })
    const others = await Promise.all(Array.from({ length: 7 }, () => world.worker({ slots: 2 })))
    const ends = client.call<string[]>("ends", { runs })
    for (const victim of others.slice(0, 3)) {
      await Promise.race([victim.until("counts", ({ started }) => Number(started) > 0), ends])
      victim.kill("SIGKILL")
      await victim.ended
    }
    expect(new Set(await ends)).toEqual(new Set(["succeeded"]))
    await world.judge()
    expect(mostAtOnce(world.history())).toBe(1)
  })
})

/** The most handlers in flight at once; a killed one ended with the last line of its process. */
function mostAtOnce(history: History): number {
  const last = new Map(history.map(({ pid, ns }) => [pid, ns]))
  const changes = history.flatMap((entry) => {
    if (entry.op !== "effect") return []
    const end = history.find(
      (other) => other.op === "end" && other.claim === entry.claim && other.run === entry.run,
    )
    return [
      { at: entry.ns, change: 1 },
      { at: end?.ns ?? last.get(entry.pid) ?? entry.ns, change: -1 },
    ]
  })
  let now = 0
  return Math.max(
    ...changes
      .sort((a, b) => Number(a.at - b.at) || a.change - b.change)
      .map(({ change }) => {
        now += change
        return now
      }),
  )
}
