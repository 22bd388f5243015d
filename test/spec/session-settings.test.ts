/** Sessions with odd settings from a role, a database or a URL: nothing in Carillon depends on them. */
import pg from "pg"
import { beforeAll, expect, it, onTestFinished } from "vitest"
import { Cancel, type CarillonOptions, defineJob, Retry, Snooze } from "../../src/index.ts"
import { describeEngines, newSchema, SERVERS } from "../support/engines.ts"
import { host } from "../support/faulty-database.ts"
import { openFaultyNetwork } from "../support/faulty-network.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { makeHostile, PATIENT } from "../support/hostile-role.ts"
import { rowsOf } from "../support/sql.ts"
import { carillonOn } from "../support/watched-app.ts"

const LIMITS = {
  statement_timeout: "5ms",
  lock_timeout: "1ms",
  idle_in_transaction_session_timeout: "5ms",
  idle_session_timeout: "200ms",
  transaction_timeout: "2s",
}

describeEngines(
  "a role with every setting at its oddest",
  (engine) => {
    let [url, patientUrl] = ["", ""]
    beforeAll(async () => {
      url = await makeHostile(engine.url(), LIMITS)
      patientUrl = await makeHostile(engine.url(), PATIENT)
    })

    /** Straight to the server, or behind a pooler, where a session has no owner. */
    async function given(way: "directly" | "behind a pooler", options: CarillonOptions = {}, as = url) {
      const proxy = await openFaultyNetwork(as)
      if (way === "behind a pooler") proxy.disguiseServer()
      const own = carillonOn(proxy.url, { schema: newSchema(host), ...options })
      onTestFinished(async () => {
        await own.carillon.stop()
        await proxy.close()
      })
      return own
    }

    const ways = ["directly", "behind a pooler"] as const

    it.each(ways)("has its runs written, retried, snoozed, cancelled and remembered, %s", async (way) => {
      const attempts = new Map<string, number>()
      const job = defineJob({
        name: "odd",
        retry: { attempts: 3, delay: "1ms" },
        run: async (wish: string, ctx) => {
          const attempt = (attempts.get(wish) ?? 0) + 1
          attempts.set(wish, attempt)
          ctx.log("so \\ far \u{1F980}")
          if (wish === "cancel") return Cancel("enough")
          if (wish === "snooze" && attempt === 1) return Snooze("1ms")
          if (wish === "retry" && attempt === 1) return Retry({ after: "1ms", reason: "again" })
          if (wish === "fail") throw new Error("NULL \\ \u{1F980}")
          return { wish, at: 1.0000000000000002 }
        },
      })
      const { carillon } = await given(way, { jobs: [job] })
      await carillon.start()
      const wishes = ["done", "snooze", "retry", "cancel", "fail"]
      // The options of some are nulls among those of others.
      const runs = await carillon.enqueueMany(
        job,
        wishes.map((wish, index) => ({ input: wish, ...(index === 1 && { priority: 3, tags: ["NULL"] }) })),
      )
      const ends = await Promise.allSettled(runs.map((run) => run.result()))
      expect(ends).toMatchObject([
        ...wishes.slice(0, 3).map((wish) => ({ value: { wish, at: 1.0000000000000002 } })),
        { reason: { code: "RUN_CANCELLED" } },
        { reason: { code: "RUN_DEAD" } },
      ])
      const [failed] = await carillon.runs.attempts(runs[4]?.id ?? "")
      expect(failed?.error?.message).toBe("NULL \\ \u{1F980}")
      expect((await carillon.runs.attempts(runs[0]?.id ?? "")).length).toBe(1)
    })

    it.each(ways)("has its schedules fire when they are due, %s", async (way) => {
      const fired = createGate()
      const job = defineJob({
        name: "odd",
        run: async (_: undefined, ctx) => {
          if (ctx.occurrence) fired.open()
        },
      })
      const { carillon, database } = await given(way, { jobs: [job] })
      await carillon.start()
      await carillon.schedules.put({ name: "soon", every: "1s", job })
      await carillon.schedules.put({ name: "later", cron: "0 0 1 1 *", job })
      await fired.opened
      const states = (await carillon.schedules.list()).schedules.map(({ name, state }) => [name, state])
      expect(states).toEqual([
        ["later", "active"],
        ["soon", "active"],
      ])
      const early = await rowsOf(database, "select occurrence from {fires} where occurrence > decided_at")
      expect(early).toEqual([])
    })

    it.each(ways)(
      "keeps its settings for statements of handlers, and not for those of Carillon, %s",
      async (way) => {
        const settings =
          "select current_setting('jit_above_cost') as cost, current_setting('search_path') as path"
        const seen: unknown[] = []
        const inner = defineJob({ name: "inner", run: async (n: number) => n })
        const outer = defineJob({
          name: "outer",
          run: async (_: undefined, ctx) =>
            ctx.transaction(async (tx) => {
              await tx.query("set local search_path = mine")
              await carillon.enqueue(inner, 7, { tx })
              seen.push(...(await tx.query(settings)).rows)
              await carillon.enqueue(inner, 8, { tx, key: "eight" })
              seen.push(...(await tx.query(settings)).rows)
              return "written"
            }),
        })
        const { carillon } = await given(way, { jobs: [outer, inner] }, patientUrl)
        await carillon.start()
        expect(await (await carillon.enqueue(outer)).result()).toBe("written")
        expect(seen).toEqual([
          { cost: "0", path: '"mine"' },
          { cost: "0", path: '"mine"' },
        ])
      },
    )

    it("enqueues in a transaction of a client whose session drops nulls from arrays", async () => {
      const { carillon } = await given("directly")
      await carillon.migrate()
      const job = defineJob({ name: "odd", run: async (n: number) => n })
      const client = new pg.Client(engine.url())
      await client.connect()
      onTestFinished(() => client.end())
      await client.query("set array_nulls = off; set extra_float_digits = -15; begin")
      const [plain, urgent] = await carillon.enqueueMany(
        job,
        [{ input: 1 }, { input: 2, priority: 3, tenant: "acme", delay: "1h" }],
        { tx: client },
      )
      expect((await client.query("show array_nulls")).rows).toEqual([{ array_nulls: "off" }])
      await client.query("commit")
      expect(await carillon.runs.get(plain?.id ?? "")).toMatchObject({
        input: 1,
        priority: 0,
        state: "ready",
      })
      expect(await carillon.runs.get(urgent?.id ?? "")).toMatchObject({
        priority: 3,
        tenant: "acme",
        state: "waiting",
      })
    })
  },
  SERVERS,
)
