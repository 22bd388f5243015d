import { describe, expect, it } from "vitest"
import { AttemptAborted } from "../errors.ts"
import { defineJob } from "../job/define.ts"
import { createSystemHost } from "../runtime/system.ts"
import { startAttempt } from "./attempt.ts"

describe("an attempt that was told to end", () => {
  it("leaves no timer behind that would keep the process alive, even if its handler never ends", async () => {
    const system = createSystemHost()
    const timers = new Set<object>()
    const host = {
      ...system,
      // Last words are not waited for here.
      sleep: async () => {},
      after: (ms: number, run: () => void) => {
        const timer = system.after(ms, run)
        timers.add(timer)
        return {
          cancel: () => {
            timers.delete(timer)
            timer.cancel()
          },
        }
      },
    }
    const job = defineJob({ name: "endless", timeout: "1h", run: () => new Promise<void>(() => {}) })
    const run = {
      id: system.newId(),
      lease: system.newId(),
      claim: 1n,
      job,
      attempt: 1,
      due: 0,
      input: "null",
    }
    const attempt = startAttempt(host, run)
    expect(timers.size).toBe(1)
    attempt.abort(new AttemptAborted("STOPPING", run.id, "stopping"))
    expect(await attempt.outcome).toEqual({ kind: "released" })
    expect(timers.size).toBe(0)
  })
})
