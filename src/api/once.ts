/** Runs a piece of work once, however often it is called. After a failure the next call tries again. */

export interface Once<T> {
  (): Promise<T>
  readonly isRunning: () => boolean
  /** Waits for running work and returns its result. `undefined` without a result. Starts nothing. */
  readonly settled: () => Promise<{ readonly value: T } | undefined>
}

export function once<T>(work: () => Promise<T>): Once<T> {
  let result: Promise<T> | undefined
  let running = false
  const call = () => {
    if (result === undefined) {
      running = true
      result = work()
        .catch((error) => {
          result = undefined
          throw error
        })
        .finally(() => {
          running = false
        })
    }
    return result
  }
  return Object.assign(call, {
    isRunning: () => running,
    settled: async () => {
      try {
        return result && { value: await result }
      } catch {
        return undefined
      }
    },
  })
}
