/** Ends that the database will not write down, for reasons of theirs or for none that is known. */
import { expect, it, vi } from "vitest"
import { defineJob } from "../../src/index.ts"
import { type EngineStage, openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { answerLost } from "../support/watched-database.ts"

const PATIENCE = { interval: 5, timeout: 20_000 }

/** As somebody's trigger might: nothing that succeeded of jobs with such a name gets into history. */
async function refuse({ database }: EngineStage, name: string, sqlState: string): Promise<void> {
  await execute(
    database,
    `create function {schema}.refuse() returns trigger language plpgsql as $body$
      begin
        if new.job like '${name}' and new.outcome = 'succeeded' then
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

/** Until so many have ended. */
async function goOn(stage: EngineStage, count: number): Promise<void> {
  const tick = async () => {
    await stage.tick()
    return ended(stage) >= count
  }
  await vi.waitUntil(tick, PATIENCE)
}

describeEngines(
  "an end that fails even alone, for no reason that is known,",
  (engine) => {
    async function given(faulty: number) {
      const bad = defineJob({ name: "bad", run: async () => {} })
      const good = defineJob({ name: "good", run: async () => {} })
      const pools = { default: 50 }
      const stage = await openEngineStage(await engine.migrated(), { jobs: [bad, good], pools })
      await refuse(stage, "bad", "P0001")
      await stage.enqueue(bad, faulty, { runAt: new Date(0) })
      await stage.enqueue(good, 4, { runAt: new Date(0) })
      return { stage, good }
    }

    it("holds up neither those that are written with it nor whatever comes after", async () => {
      const { stage, good } = await given(1)
      await goOn(stage, 4)
      // By now it has waited for so long that nothing would start if it were only late.
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

    it("keeps others from starting when none can be written", async () => {
      const job = defineJob({ name: "any", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: 1 } })
      await refuse(stage, "%", "P0001")
      await stage.enqueue(job, 20, { runAt: new Date(0) })
      const failures = () => told(stage, "loop.failed").length
      await vi.waitUntil(async () => {
        await stage.tick()
        return failures() >= 25
      }, PATIENCE)
      // The first few are tried again by now, and the others have not begun.
      expect(stage.started().length).toBeLessThan(10)
      await relent(stage)
      await goOn(stage, 20)
      await stage.settled()
      expect(stage.started()).toHaveLength(20)
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
  "a result that the database refuses",
  (engine) => {
    it("is told as what it became, also if the answer to that was lost", async () => {
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
  },
  ["PGlite"],
)

describeEngines(
  "a run whose start is written down first",
  (engine) => {
    it("does not start any more if its lease was lost before that was answered", async () => {
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
