/** What is asked for when nothing is broken any more and nobody has anything else to do: it has to start in time. */
import type { Life } from "../world/process.ts"
import { type Calls, enqueueRecorded } from "./calls.ts"
import type { Plan } from "./plan.ts"

/** So many, each of which takes so long. */
interface Wish {
  readonly runs: number
  readonly ms: number
  readonly delayMs: number
}

/** With a moment between any two. */
export async function askInPeace(plan: Plan, calls: Calls, life: Life, wish: Wish): Promise<void> {
  const { chance, host } = life
  for (let count = 0; count < wish.runs; count += 1) {
    const call = calls.open(life, {
      job: "plain",
      attempts: plan.attempts,
      retry: { delayMs: plan.retryMs },
    })
    const options = wish.delayMs > 0 ? { delay: chance.between(1, wish.delayMs) } : {}
    await enqueueRecorded(life, call, { job: "plain", tasks: [{ ms: wish.ms }], options })
    await host.sleep(chance.between(1, 600))
  }
}
