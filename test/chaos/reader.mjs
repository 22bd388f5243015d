// Readers of all runs: page by page from the newest, keeping nothing but the cursor.
const PAGE = 200
/** A reader does not wait for the end of a longer history. */
const MOST = 5_000

export function createReader({ carillon, record }) {
  /** `onSeen` is given the id of every run; whether it came to the end before it had `most`. */
  async function read({ limit = PAGE, most = Number.POSITIVE_INFINITY, onSeen = () => {} }) {
    let cursor
    let seen = 0
    do {
      const page = await carillon.runs.list({ limit, ...(cursor !== undefined && { cursor }) })
      for (const { id } of page.items) onSeen(id)
      seen += page.items.length
      cursor = page.nextCursor
    } while (cursor !== undefined && seen < most)
    return { seen, isComplete: cursor === undefined }
  }

  const note = (run) => record("seen", { run })

  return {
    read: async (how) => (await read(how)).seen,
    /** All of it, when everything has ended. */
    readToTheEnd: async () => {
      const { seen } = await read({ onSeen: note })
      record("reader_done", {})
      return seen
    },
    /** Once, while runs end: a fault ends the pass, which does not count as a violation. */
    follow: async () => {
      let end = "reader_gone"
      record("reader_from", {})
      try {
        const { isComplete } = await read({ most: MOST, onSeen: note })
        if (isComplete) end = "reader_done"
      } finally {
        record(end, {})
      }
    },
  }
}
