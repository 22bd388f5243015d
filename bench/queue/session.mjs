/** What every measure does with a contender: warm it up, open it, wait until it is done, count what is left. */
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { serverMs } from "./cpu.mjs"
import { createTally, inputsOf } from "./tally.mjs"

/** Opens a contender for as long as `use` takes; its connections are closed before this resolves. */
export async function withSession({ contender, url, settings }, use) {
  const session = await contender.open(url, settings)
  try {
    return await use(session)
  } finally {
    await session.close()
  }
}

/** Lends a connection that looks at the tables from outside. */
export async function withWatcher({ contender, url }, use) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query("select pg_backend_pid() as pid")
  const count = async (from) => (await client.query(`select count(*)::int as count ${from}`)).rows[0].count
  try {
    return await use({
      query: (sql) => client.query(sql),
      serverMs: () => serverMs(rows[0].pid),
      left: () => count(contender.left),
      /** Resolves when nothing is left, neither waiting nor running nor executed but not yet written down. */
      settled: async () => {
        // Counting them would take as much of the server as the contender has.
        const look = async () =>
          (await client.query(`select exists (select ${contender.left}) as any`)).rows[0].any
        while (await look()) await sleep(10)
      },
      /** Where successes are kept, all of them have to be there. */
      verifyKept: async (expected) => {
        const kept = contender.kept === undefined ? expected : await count(contender.kept)
        if (kept !== expected) throw new Error(`void: history holds ${kept} of ${expected} jobs`)
      },
    })
  } finally {
    await client.end()
  }
}

/** Enqueues and executes some jobs in a session of their own, for the compiler's sake. */
export async function warmUp(subject, watcher, count) {
  const tally = createTally(count)
  // The settings for enqueueing alone say nothing about executing.
  const settings = { ...subject.contender.settings.drain, ...subject.settings }
  await withSession({ ...subject, settings }, async (session) => {
    await session.enqueueMany(inputsOf(count))
    await session.start(tally.ran)
    await tally.complete
    await watcher.settled()
  })
  tally.verify()
}

/** Enqueues all inputs, `batch` in a call and `inFlight` calls at a time. */
export async function enqueueAll(session, inputs, { batch, inFlight }) {
  let at = 0
  const lane = async () => {
    while (at < inputs.length) {
      const from = at
      at += batch
      await session.enqueueMany(inputs.slice(from, from + batch))
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
}
