/** The wake-up of other processes travels right behind the insert of a run, before the insert is answered. */
import { expect, it } from "vitest"
import { DatabaseError, defineJob } from "../../src/index.ts"
import type { Database } from "../../src/store/database.ts"
import { openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { rowsOf } from "../support/sql.ts"

const job = defineJob({ name: "elsewhere", run: async () => {} })
const limited = defineJob({ name: "limited", concurrency: 1, run: async () => {} })

describeEngines(
  "a run for other processes",
  (engine) => {
    /** A process that does not serve the pool of its jobs, and which wake-ups it sent behind which statement. */
    async function producer() {
      const { database, ...host } = await engine.migrated()
      const ends: Promise<void>[] = []
      const said: (readonly [statement: string, word: string])[] = []
      const heard: Database = {
        ...database,
        run: (statement, params, options) => {
          const behind = options?.behind
          if (!behind) return database.run(statement, params, options)
          said.push([statement.name, behind.values.join("\n")])
          const ended = createGate()
          ends.push(ended.opened)
          const onEnd = () => {
            behind.onEnd()
            ended.open()
          }
          return database.run(statement, params, { ...options, behind: { ...behind, onEnd } })
        },
      }
      const stage = await openEngineStage(
        { ...host, database: heard },
        { jobs: [job, limited], pools: { side: 1 } },
      )
      const told = () => stage.database.count("wakeups/notify")
      return { ...stage, said, told, spoken: () => Promise.all(ends) }
    }

    it("is announced behind its insert, with a rank that is not above its own", async () => {
      const { enqueue, said, told, database } = await producer()
      await enqueue(job)
      expect(said.map(([statement]) => statement)).toEqual(["runs/insert-one"])
      expect(told()).toBe(0)
      const [run] = await rowsOf(database, "select rank::text from {runs}")
      const rank = /ready .*?(\d{16})/.exec(said[0]?.[1] ?? "")?.[1]
      expect(BigInt(rank ?? 0)).toBeGreaterThan(0n)
      expect(BigInt(rank ?? 0)).toBeLessThanOrEqual(BigInt(String(run?.["rank"])))
    })

    it("is announced after its insert while another wake-up is in flight, with all that come meanwhile", async () => {
      const { enqueue, said, told, spoken, database } = await producer()
      const [gate, sent] = [createGate(), createGate()]
      database.meddle("wakeups/notify", (notify) => notify().finally(sent.open))
      database.meddle("runs/insert-one", async (insert) => {
        await gate.opened
        return insert()
      })
      const first = enqueue(job)
      await enqueue(job)
      expect(told()).toBe(1)
      gate.open()
      await Promise.all([first, sent.opened])
      await spoken()
      await new Promise((resolve) => setImmediate(resolve))
      await enqueue(job)
      expect([said.length, told()]).toEqual([2, 1])
    })

    it("that is not ready at once is announced when it is", async () => {
      const { enqueue, said, told } = await producer()
      await enqueue(job, 1, { delay: "1h" })
      await enqueue(limited)
      expect(said).toEqual([])
      expect(told()).toBe(1)
    })

    it("whose insert failed does not suppress the wake-up of others", async () => {
      const { enqueue, said, told, spoken, database } = await producer()
      await enqueue(job)
      await spoken()
      database.meddle("runs/insert-one", async () => {
        throw new DatabaseError("DATABASE_FULL", "the disk is full")
      })
      await expect(enqueue(job)).rejects.toMatchObject({ code: "DATABASE_FULL" })
      await enqueue(job)
      expect([said.length, told()]).toEqual([2, 0])
    })
  },
  ["PostgreSQL 18"],
)
