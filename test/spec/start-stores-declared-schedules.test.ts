/** A start resolves when the declared schedules are stored. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, defineSchedule } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { carillonOn, createWatchedKit, type WatchedKit } from "../support/watched-app.ts"
import { requestLost } from "../support/watched-database.ts"

const job = defineJob({ name: "work", run: async () => {} })
const NAMES = Array.from({ length: 20 }, (_, index) => `nightly ${String(index).padStart(2, "0")}`)
const schedules = NAMES.map((name) => defineSchedule({ name, job, cron: "0 2 * * *" }))

describe("start", () => {
  it("resolves when the declared schedules are stored: a list at once has them all", async () => {
    const { carillon } = carillonOn(SERVER_URLS.postgres18, { jobs: [job], schedules })
    await carillon.start()
    const { schedules: listed } = await carillon.schedules.list()
    expect(listed.map(({ name }) => name)).toEqual(NAMES)
    await carillon.stop({ grace: 0 })
  })

  describe("in the hands of a test", () => {
    let kit: WatchedKit
    beforeAll(async () => {
      kit = await createWatchedKit(SERVER_URLS.postgres18)
    })
    afterAll(() => kit.close())

    it("waits for a store that takes its time", async () => {
      const app = await kit.app({ jobs: [job], schedules })
      const [asked, gate] = [createGate(), createGate()]
      app.database.meddle("schedules/insert", async (run) => {
        asked.open()
        await gate.opened
        return run()
      })
      let isOver = false
      const starting = app.start().then(() => {
        isOver = true
      })
      await asked.opened
      expect(isOver).toBe(false)
      gate.open()
      await starting
      expect((await app.schedules.list()).schedules).toHaveLength(NAMES.length)
      await app.close()
    })

    it("does not wait for a database that goes away meanwhile, and the schedules follow when it is back", async () => {
      const app = await kit.app({ jobs: [job], schedules })
      app.database.meddle("applications/enter", requestLost)
      await app.start()
      expect(app.events).toContainEqual(expect.objectContaining({ type: "loop.failed", loop: "reconciler" }))
      await app.until("schedule.declared", ({ name }) => name === NAMES.at(-1))
      expect((await app.schedules.list()).schedules).toHaveLength(NAMES.length)
      await app.close()
    })

    it("ends when the process is stopped while they are being stored", async () => {
      const app = await kit.app({ jobs: [job], schedules })
      const [asked, gate] = [createGate(), createGate()]
      app.database.meddle("schedules/insert", async (run) => {
        asked.open()
        await gate.opened
        return run()
      })
      const starting = app.start()
      await asked.opened
      const stopping = app.stop({ grace: 0 })
      gate.open()
      await Promise.all([starting, stopping])
      await app.close()
    })
  })
})
