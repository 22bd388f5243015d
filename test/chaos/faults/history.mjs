// Upkeep all the time instead of every hour; and jobs of every class of history.
import { recordHandler } from "../../support/history/record-events.mjs"

const { Bury, defineJob } = await import("../../../dist/index.js")
const { createSystemHost } = await import("../../../dist/runtime/system.js")
const { openServer } = await import("../../../dist/store/server/server.js")
const { dropExpired } = await import("../../../dist/store/attempts/retention.js")
const { dropExpiredMonths } = await import("../../../dist/store/fires/retention.js")
const { forgetKeys } = await import("../../../dist/store/keys/forget.js")
const { forgetAudit } = await import("../../../dist/store/audit/forget.js")

const { database: url, schema } = JSON.parse(process.argv[2])
const DAY_MS = 86_400_000
/** Of the audit, in place of a year. */
const KEPT_MS = 3 * DAY_MS

const quick = (record) => recordHandler(record, async () => process.pid)

export const createJobs = ({ record }) => ({
  brief: defineJob({ name: "brief", history: "short", run: quick(record) }),
  usual: defineJob({ name: "usual", run: quick(record) }),
  lasting: defineJob({ name: "lasting", history: "long", run: quick(record) }),
  mourned: defineJob({
    name: "mourned",
    run: recordHandler(record, async (_input, ctx) => (ctx.generation < 2 ? Bury("for now") : process.pid)),
  }),
})

export function createCommands({ carillon, by }) {
  let isPruning = false
  const dropped = new Set()

  return {
    /** A hundred times more often than usual, until it is told to stop; answers with what it has dropped. */
    prune: async () => {
      const database = openServer(createSystemHost(), { url, schema })
      const limit = 7
      let most = 0
      isPruning = true
      try {
        while (isPruning) {
          for (const retention of [await dropExpired(database), await dropExpiredMonths(database)])
            for (const name of retention.dropped) dropped.add(name)
          for (const rows of [
            await database.run(forgetKeys, { limit }),
            await database.run(forgetAudit, { keepMs: KEPT_MS, limit }),
          ])
            most = Math.max(most, ...rows.map(({ forgotten }) => forgotten))
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      } finally {
        await database.close()
      }
      return { days: [...dropped], most, limit }
    },
    stopPruning: async () => {
      isPruning = false
    },
    /** All runs by their cursor, each as often as it came. */
    readAll: async () => {
      const seen = []
      let cursor
      do {
        const page = await carillon.runs.list({ limit: 60, ...(cursor !== undefined && { cursor }) })
        for (const { id } of page.items) seen.push(id)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return seen
    },
    replayAll: async ({ runs }) => {
      const answers = await Promise.all(
        runs.map((run) =>
          carillon.deadLetters.replay(run, by).then(
            () => "done",
            (error) => `${error.code}: ${error.message}`,
          ),
        ),
      )
      return answers.filter((answer) => answer !== "done")
    },
  }
}
