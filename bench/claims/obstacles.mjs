/** What may stand at the head of a queue: a hundred thousand runs that cannot be executed now, each kind for itself. */
const BY = { actor: "bench", reason: "to see what it costs" }
/** What one call takes at the most. */
const MOST = 50_000

/** How many times slower a drain behind it may be at the `most`. */
export const OBSTACLES = {
  nothing: { put: async () => {} },
  unknown: {
    title: "of jobs that this process does not know",
    most: 2,
    put: (carillon, { stranger }, count) => enqueueMany(carillon, stranger, count),
  },
  parked: {
    title: "parked under a limit",
    most: 1.2,
    put: (carillon, { limited }, count) => enqueueMany(carillon, limited, count),
  },
  paused: {
    title: "of a job that is paused",
    most: 1.2,
    put: async (carillon, { paused }, count) => {
      await enqueueMany(carillon, paused, count)
      await carillon.pause({ job: paused.name }, BY)
    },
  },
  future: {
    title: "that are due in an hour",
    most: 1.2,
    put: (carillon, { noop }, count) => enqueueMany(carillon, noop, count, { delay: "1h" }),
  },
}

export async function enqueueMany(carillon, job, count, options = {}) {
  for (let left = count; left > 0; left -= MOST) {
    const items = Array.from({ length: Math.min(MOST, left) }, () => ({ input: null, ...options }))
    await carillon.enqueueMany(job, items)
  }
}
