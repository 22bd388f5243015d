/** Work that goes on beside a loop, one piece at a time, and that nothing in the loop waits for. */

export interface BackgroundTask {
  /** Begins the work, unless some is under way. */
  readonly begin: (work: () => Promise<void>) => void
  /** Throws what the last piece failed with, once, so that the loop tells of it and rests. */
  readonly tell: () => void
  /** Resolves when none is under way. */
  readonly ended: () => Promise<void>
}

/** `onFailure` is called when there is something to tell. */
export function createBackgroundTask(onFailure: () => void): BackgroundTask {
  let underWay: Promise<void> | undefined
  let failure: { readonly error: unknown } | undefined

  async function carryOut(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      failure = { error }
      onFailure()
    } finally {
      underWay = undefined
    }
  }

  return {
    begin: (work) => {
      underWay ??= carryOut(work)
    },
    tell: () => {
      const told = failure
      failure = undefined
      if (told) throw told.error
    },
    ended: async () => underWay,
  }
}
