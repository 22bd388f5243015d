/** Settles that the database rejects, for a known reason or for none. */
import { expect, it, vi } from "vitest"
import { defineJob } from "../../src/index.ts"
import { type EngineStage, openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { answerLost } from "../support/watched-database.ts"

const PATIENCE = { interval: 5, timeout: 20_000 }

/** As a trigger of the application might do: history rejects such ends of jobs with such a name. */
async function refuse(
  { database }: EngineStage,
  name: string,
  sqlState: string,
  outcome = "succeeded",
): Promise<void> {
  await execute(
    database,
    `create function {schema}.refuse() returns trigger language plpgsql as $body$
      begin
        if new.job like '${name}' and new.outcome like '${outcome}' then
          raise exception 'not this one' using errcode = '${sqlState}';
        end if;
        return new;
      end $body$;
      create trigger refuse before insert on {attempts} for each row execute function {schema}.refuse()`,
  )
}

const relent = ({ database }: EngineStage) => execute(database, "drop trigger refuse on {attempts}")

const told = ({ events }: EngineStage, type: string) => events.filter((event) => event.type === type)
const ended = (stage: EngineStage) => told(stage, "attempt.finished").length

/** Until this many have ended. */
async function goOn(stage: EngineStage, count: number): Promise<void> {
  const tick = async () => {
    await stage.tick()
    return ended(stage) >= count
  }
  await vi.waitUntil(tick, PATIENCE)
}

describeEngines(
  "a settle that fails even alone, for no known reason,",
  (engine) => {
    async function given(faulty: number, slots = 50) {
      const bad = defineJob({ name: "bad", run: async () => {} })
      const good = defineJob({ name: "good", run: async () => {} })
      const pools = { default: slots }
      const stage = await openEngineStage(await engine.migrated(), { jobs: [bad, good], pools })
      await refuse(stage, "bad", "P0001")
      await stage.enqueue(bad, faulty, { runAt: new Date(0) })
      await stage.enqueue(good, 4, { runAt: new Date(0) })
      return { stage, good }
    }

    it("holds up neither the settles beside it nor the next ones", async () => {
      const { stage, good } = await given(1)
      await goOn(stage, 4)
      // By now it has waited so long that no run would start if it were only late.
      stage.pass(60_000)
      await stage.enqueue(good, 5, { runAt: new Date(0) })
      await goOn(stage, 9)
      expect(told(stage, "loop.failed")).not.toEqual([])
      expect(await rowsOf(stage.database, "select job from {runs}")).toEqual([{ job: "bad" }])
      await relent(stage)
      await stage.settled()
      expect(ended(stage)).toBe(10)
      expect(stage.started()).toHaveLength(10)
      expect(await rowsOf(stage.database, "select from {runs}")).toEqual([])
    })

    it("keeps runs from starting when no settle can be written", async () => {
      const job = defineJob({ name: "any", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: 1 } })
      await refuse(stage, "%", "P0001")
      await stage.enqueue(job, 20, { runAt: new Date(0) })
      const failures = () => told(stage, "loop.failed").length
      await vi.waitUntil(async () => {
        await stage.tick()
        return failures() >= 25
      }, PATIENCE)
      // The first few have been tried again by now, each with one more, to find out which of them fails.
      expect(stage.started().length).toBeLessThan(15)
      await relent(stage)
      await goOn(stage, 20)
      await stage.settled()
      expect(stage.started()).toHaveLength(20)
    })

    it("does not stop the others for good, however many of its kind follow each other", async () => {
      const { stage } = await given(6, 1)
      await goOn(stage, 4)
      expect(stage.started()).toHaveLength(10)
      expect(await rowsOf(stage.database, "select distinct job from {runs}")).toEqual([{ job: "bad" }])
      await relent(stage)
      await stage.settled()
    })

    it("is written when it can be, beside any number of its kind", async () => {
      const { stage } = await given(10)
      await goOn(stage, 4)
      await relent(stage)
      await stage.settled()
      expect(ended(stage)).toBe(14)
      expect(stage.started()).toHaveLength(14)
      expect(await rowsOf(stage.database, "select from {runs}")).toEqual([])
    })
  },
  ["PGlite"],
)

describeEngines(
  "a result that the database rejects",
  (engine) => {
    it("is reported as what the run became, also if that answer was lost", async () => {
      const job = defineJob({ name: "bad", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      await refuse(stage, "bad", "22P05")
      stage.database.meddle("runs/settle", answerLost)
      await stage.enqueue(job, 1, { runAt: new Date(0) })
      await goOn(stage, 1)
      await stage.settled()
      expect(told(stage, "attempt.fenced")).toEqual([])
      expect(told(stage, "attempt.finished")).toMatchObject([
        { outcome: "failed", runState: "dead", error: { code: "DATABASE_REFUSED_VALUE" } },
      ])
    })

    it("is reported, and waiters give up, if nothing can be written in its place", async () => {
      const job = defineJob({ name: "bad", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      await refuse(stage, "bad", "22P05", "%")
      await stage.enqueue(job, 1, { runAt: new Date(0) })
      await stage.tick()
      await stage.settled()
      expect(told(stage, "loop.failed")).toMatchObject([{ loop: "settler", error: { sqlState: "22P05" } }])
      expect(told(stage, "attempt.fenced")).toHaveLength(1)
      expect(await rowsOf(stage.database, "select {schema}.state(runs) from {runs}")).toEqual([
        { state: "running" },
      ])
    })

    it("is not charged to a run that was never tried", async () => {
      const job = defineJob({ name: "bad", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      await refuse(stage, "bad", "22P05", "released")
      await stage.enqueue(job, 1, { runAt: new Date(0) })
      stage.database.meddle("runs/claim", async (claim) => {
        const claimed = await claim()
        stage.worker.close()
        return claimed
      })
      await stage.tick()
      await vi.waitUntil(() => told(stage, "loop.failed").length >= 2, PATIENCE)
      await relent(stage)
      await stage.settled()
      expect(await rowsOf(stage.database, "select {schema}.state(runs) from {runs}")).toEqual([
        { state: "ready" },
      ])
    })
  },
  ["PGlite"],
)

describeEngines(
  "a run whose start is recorded first",
  (engine) => {
    it("does not start if its lease was lost before the answer", async () => {
      const job = defineJob({ name: "careful", onLost: "bury", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      await stage.enqueue(job, 1, { runAt: new Date(0) })
      const { signal } = new AbortController()
      stage.database.meddle("runs/record-start", async (record) => {
        const recorded = await record()
        await execute(stage.database, "update {workers} set dead = true")
        await stage.engine.lease.tick(signal)
        return recorded
      })
      await stage.tick()
      await stage.worker.settled()
      expect(told(stage, "lease.lost")).toHaveLength(1)
      expect(told(stage, "attempt.fenced")).toHaveLength(1)
      expect(stage.started()).toEqual([])
    })
  },
  ["PGlite"],
)

describeEngines(
  "a run that another process has ended meanwhile",
  (engine) => {
    it("leaves no note of its claim behind", async () => {
      const stage: { database?: EngineStage["database"] } = {}
      const gone = defineJob({
        name: "gone",
        run: async () => {
          if (stage.database) await execute(stage.database, "delete from {runs}")
        },
      })
      const opened = await openEngineStage(await engine.migrated(), { jobs: [gone], pools: { default: 1 } })
      stage.database = opened.database
      // So many that looking for them is worth a statement.
      for (let count = 0; count < 100; count += 1) {
        await opened.enqueue(gone)
        await opened.tick()
        await opened.settled()
      }
      expect(told(opened, "attempt.fenced")).toHaveLength(100)
      await opened.tick()
      expect(await rowsOf(opened.database, "select from {claims}")).toEqual([])
    })
  },
  ["PGlite"],
)

describeEngines(
  "a run that comes back while it is being claimed",
  (engine) => {
    it("does not start beside its own handler, which has not ended", async () => {
      let release = () => {}
      const isReleased = new Promise<void>((resolve) => {
        release = resolve
      })
      const job = defineJob({
        name: "deaf",
        timeout: "20ms",
        retry: { attempts: 3, delay: "1ms" },
        run: () => isReleased,
      })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      await stage.enqueue(job, 1, { runAt: new Date(0) })
      await stage.tick()
      // Sent before its time was over, and answered afterwards.
      stage.database.meddle("runs/claim", async (claim) => {
        await vi.waitUntil(() => ended(stage) === 1, PATIENCE)
        const rank = "(date_part('epoch', {now}) * 1000000)::bigint"
        await execute(stage.database, `update {runs} set stage = 'queued', due_at = {now}, rank = ${rank}`)
        return claim()
      })
      stage.worker.wake(undefined)
      await stage.tick()
      expect(stage.started()).toHaveLength(1)
      release()
      await vi.waitUntil(async () => {
        await stage.tick()
        return stage.started().length === 2
      }, PATIENCE)
      await stage.settled()
    })
  },
  ["PGlite"],
)
