/** Proof that every job ran, and ran once. Without it a figure is void. */

/** The inputs of `count` jobs: small JSON, each with a number of its own. */
export function inputsOf(count, from = 0) {
  return Array.from({ length: count }, (_, n) => ({
    n: from + n,
    to: "ada@example.com",
    subject: "Hello",
  }))
}

/** Counts how often each job ran. */
export function createTally() {
  let times = new Uint8Array(1 << 16)
  let ended = 0
  return {
    /** A no-op but for the count. */
    ran: (n) => {
      if (n >= times.length) {
        const larger = new Uint8Array(2 * Math.max(n, times.length))
        larger.set(times)
        times = larger
      }
      times[n] += 1
      ended += 1
    },
    ended: () => ended,
    times: () => times,
  }
}

/** `each` holds how often each job ran, by process: together it has to be once. */
export function verifyOnce(each, count) {
  const longest = Math.max(...each.map((times) => times.length))
  let wrong = 0
  for (let n = 0; n < Math.max(longest, count); n += 1) {
    const ran = each.reduce((sum, times) => sum + (times[n] ?? 0), 0)
    if (ran !== (n < count ? 1 : 0)) wrong += 1
  }
  if (wrong > 0) throw new Error(`void: ${wrong} of ${count} jobs did not run exactly once`)
}
