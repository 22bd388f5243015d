// A job that needs something else, which may be away.
import { existsSync } from "node:fs"
import { recordHandler } from "../../support/history/record-events.mjs"

const { defineJob } = await import("../../../dist/index.js")

export const createJobs = ({ record }) => ({
  dependent: defineJob({
    name: "dependent",
    // Drawn evenly from nothing to three seconds, each time.
    retry: { attempts: 60, base: "3s", factor: 1, cap: "3s" },
    run: recordHandler(record, async ({ outage }) => {
      if (existsSync(outage)) throw new Error("what it depends on is away")
      return process.pid
    }),
  }),
})
