/** A job that counts how many of its runs execute at once, for tests of limits. */
import { defineJob, type JobSettings } from "../../src/index.ts"

/** What the handler of the run with this name waits for and returns. */
type Ends = (name: string, signal: AbortSignal) => unknown

/** A job that counts how many of its runs execute at once, in total and by key. */
export function counting(settings: Partial<JobSettings>, ends: Ends = () => undefined) {
  const running = new Map<string, number>()
  const most = new Map<string, number>()
  const order: string[] = []
  const count = (key: string, change: number) => {
    const now = (running.get(key) ?? 0) + change
    running.set(key, now)
    most.set(key, Math.max(now, most.get(key) ?? 0))
  }
  const job = defineJob({
    name: "counting",
    concurrency: 1,
    ...settings,
    run: async ({ name, key = "" }: { name: string; key?: string }, { signal }) => {
      count("all", 1)
      count(key, 1)
      order.push(name)
      try {
        return await ends(name, signal)
      } finally {
        count("all", -1)
        count(key, -1)
      }
    },
  })
  return { job, order, most: (key = "all") => most.get(key) ?? 0 }
}

/** A handler that ends when its signal aborts. */
export const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
export const breathe = () => new Promise<void>((resolve) => setImmediate(resolve))
export const named = (names: readonly string[]) => names.map((name) => ({ input: { name } }))
export const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index))
