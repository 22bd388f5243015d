/** Proof that every job ran, and ran once. Without it a figure is void. */

/** The inputs of `count` jobs: small JSON, each with a number of its own. */
export function inputsOf(count) {
  return Array.from({ length: count }, (_, n) => ({ n, to: "ada@example.com", subject: "Hello" }))
}

/** Counts how often each of `count` jobs ran. */
export function createTally(count) {
  const times = new Uint8Array(count)
  let ended = 0
  let isComplete
  const complete = new Promise((resolve) => {
    isComplete = resolve
  })
  return {
    /** The handler: a no-op but for the count. */
    ran: (input) => {
      times[input.n] += 1
      ended += 1
      if (ended === count) isComplete()
    },
    complete,
    verify: () => {
      const wrong = times.filter((ran) => ran !== 1).length
      if (wrong > 0 || ended !== count) {
        throw new Error(`void: ${ended} runs of ${count} jobs, ${wrong} of them not once`)
      }
    },
  }
}
