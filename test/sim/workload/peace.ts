/** What is asked for when nothing is broken any more and nobody has anything else to do: it has to start in time. */
import type { Life } from "../world/process.ts"
import { type Calls, enqueueRecorded } from "./calls.ts"
import type { Plan } from "./plan.ts"

const RUNS = 4

export async function askInPeace(plan: Plan, calls: Calls, life: Life): Promise<void> {
  const { chance, host } = life
  for (let count = 0; count < RUNS; count += 1) {
    const call = calls.open(life, {
      job: "plain",
      attempts: plan.attempts,
      retry: { delayMs: plan.retryMs },
    })
    const options = { delay: chance.between(1, 400) }
    await enqueueRecorded(life, call, { job: "plain", tasks: [{ ms: 0 }], options })
    await host.sleep(chance.between(1, 600))
  }
}
