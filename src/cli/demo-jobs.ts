/** The jobs of the demo: one is quick, one is slow, one fails now and then, and one always fails. */
import { defineJob, type Job } from "../job/define.ts"
import type { Host } from "../runtime/host.ts"

export interface DemoJob {
  readonly job: Job<undefined, unknown>
  /** The demo enqueues it once in this many rounds. */
  readonly everyRounds: number
  readonly about: string
}

export function createDemoJobs(host: Host): readonly DemoJob[] {
  const chime = defineJob({ name: "chime", run: async () => "ding" })
  const report = defineJob({
    name: "report",
    pool: "slow",
    run: async (_: undefined, { signal }) => {
      await host.sleep(1_500, signal)
      signal.throwIfAborted()
      return { rows: 1_000 }
    },
  })
  const flaky = defineJob({
    name: "flaky",
    retry: { attempts: 5, base: "2s", cap: "5s" },
    run: async (_: undefined, { attempt }) => {
      if (attempt < 3) throw new Error(`the payment provider is busy (attempt ${attempt})`)
    },
  })
  const doomed = defineJob({
    name: "doomed",
    retry: { attempts: 2, base: "1s" },
    run: async () => {
      throw new Error("this address does not exist")
    },
  })
  return [
    { job: chime, everyRounds: 1, about: "succeeds at once" },
    { job: report, everyRounds: 3, about: "takes 1.5 s in a pool of its own" },
    { job: flaky, everyRounds: 5, about: "fails twice, then succeeds" },
    { job: doomed, everyRounds: 10, about: "fails for good and becomes a dead letter" },
  ]
}
