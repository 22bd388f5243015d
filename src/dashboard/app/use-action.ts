/** Sends what a person has decided, once at a time, and tells how it ended. */
import { useState } from "preact/hooks"
import { type Problem, problemOf } from "./problem.ts"

export interface Action<Args extends unknown[]> {
  readonly run: (...args: Args) => Promise<boolean>
  readonly busy: boolean
  readonly problem: Problem | undefined
}

/** `run` resolves to whether the work has ended well. */
export function useAction<Args extends unknown[]>(work: (...args: Args) => Promise<void>): Action<Args> {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  return {
    busy,
    problem,
    run: async (...args) => {
      if (busy) return false
      setBusy(true)
      setProblem(undefined)
      try {
        await work(...args)
        return true
      } catch (error) {
        setProblem(problemOf(error))
        return false
      } finally {
        setBusy(false)
      }
    },
  }
}
