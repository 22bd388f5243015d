// The standard load of one producer: so many runs a second, of every kind, some of them cancelled again.
import pg from "pg"
import { factsOf } from "./jobs.mjs"
import { codeOf } from "./recorded-enqueue.mjs"

/** More than this waits in vain: the database is away. */
const MOST_AT_ONCE = 60
const RECENT = 200
/** A reader follows history meanwhile, from the beginning each time. */
const FOLLOW_EVERY_MS = 3_000
/** A client's transaction on a silent connection must not hold anything for long. */
const PATIENCE_MS = 8_000
const CHANGED_HIS_MIND = new Error("the user has changed his mind")

export function createLoad({ carillon, steering, reader, jobs, record, say, asking, url, schema, load }) {
  const pool = new pg.Pool({
    connectionString: url,
    max: 3,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
    idle_in_transaction_session_timeout: PATIENCE_MS,
  })
  pool.on("error", () => {})
  pool.on("connect", (client) => client.on("error", () => {}))
  const under = new Set()
  const recent = []
  const random = createRandom(load?.seed ?? 1)
  const between = (low, high) => low + Math.floor(random() * (high - low + 1))
  let timer
  let following
  let isFollowing = false
  let marks = 0

  async function enqueue(job, input = {}, settings = {}, facts = {}) {
    const told = { ...factsOf(job), ...facts }
    const handles = await asking.ask(told, () => carillon.enqueue(jobs[job], input, settings))
    for (const { id } of handles ?? []) remember(id)
    return handles
  }

  function remember(id) {
    recent.push(id)
    if (recent.length > RECENT) recent.shift()
  }

  /** `withinMs`: where so soon a handler that is at work has to be told. */
  async function cancel(run, withinMs) {
    record("cancel_invoke", { run })
    try {
      const cancelled = await carillon.runs.cancel(run, { actor: "chaos", reason: "a test" })
      if (cancelled.changed) record("cancel_ok", { run, ...(withinMs !== undefined && { withinMs }) })
      return cancelled
    } catch (error) {
      if (error.code === "RUN_NOT_FOUND")
        say({ type: "surprise", text: `${run} was known and is not: ${error.message}` })
      else asking.explain("a cancellation", error)
      return undefined
    }
  }

  /** A key that is held for long: repeated until an answer comes, as the documentation says. */
  async function keyed() {
    const key = `for-${between(1, 1_000_000)}`
    for (let tries = 0; tries < 3; tries += 1) {
      if (await enqueue("work", {}, { key, keyFor: "1h" }, { key })) return
    }
  }

  /** A key that several producers want, each for as long as its run lives. */
  const shared = (key) => enqueue("work", { ms: 50 }, { key, keyFor: "live" }, { key })

  const later = (delayMs) => enqueue("work", {}, { delay: delayMs }, { delayMs })

  const urgent = (priority) => enqueue("work", {}, { priority }, { priority })

  /** A mark and a run, in a transaction of the user's: both or neither. */
  async function inTransaction() {
    marks += 1
    const mark = `${process.pid}-${marks}`
    const isUndone = random() < 0.15
    let client
    try {
      client = await pool.connect()
    } catch (error) {
      return asking.explain("a connection of the user's", error)
    }
    let runs = []
    const failed = (error) => {
      say({ type: "transaction.failed", code: codeOf(error) })
      asking.explain("an enqueue in a transaction", error)
    }
    const end = (how, data = {}) => {
      for (const run of runs) {
        record(`enq_${how}`, { run, ...data })
        record(`tx_${how}`, { run, mark })
      }
    }
    try {
      await client.query("begin")
      const asked = await asking.within(factsOf("work"), () =>
        carillon.enqueue(jobs.work, {}, { tx: client }),
      )
      runs = asked.runs
      for (const run of runs) record("tx_invoke", { run, mark })
      if (asked.error) throw asked.error
      await client.query(`insert into "${schema}".marks (mark, run) values ($1, $2)`, [mark, runs[0]])
      if (isUndone) throw CHANGED_HIS_MIND
    } catch (error) {
      client.release(true)
      if (error !== CHANGED_HIS_MIND) failed(error)
      return end("fail", { code: "ROLLED_BACK" })
    }
    try {
      const { command } = await client.query("commit")
      client.release()
      // A transaction that has failed meanwhile answers `commit` with ROLLBACK.
      if (command === "COMMIT") {
        say({ type: "transaction.committed" })
        return end("ok", { created: true })
      }
      // All its statements succeeded, so only this answer tells.
      say({ type: "transaction.failed", code: "ROLLED_BACK" })
      say({ type: "surprise", text: "a transaction in which nothing had failed was rolled back" })
      end("fail", { code: "ROLLED_BACK" })
    } catch (error) {
      client.release(true)
      failed(error)
      end("info")
    }
  }

  async function many() {
    const items = Array.from({ length: 5 }, () => ({ input: { ms: 1 } }))
    const handles = await asking.ask(factsOf("work"), () => carillon.enqueueMany(jobs.work, items))
    for (const { id } of handles ?? []) remember(id)
  }

  /** A run that is certainly there to be cancelled. */
  async function changeMind() {
    const handles = await later(5_000)
    if (handles) await cancel(handles[0].id)
  }

  /** Before the first of them is made there is nothing to pause. */
  async function steer() {
    try {
      await steering.steer(random)
    } catch (error) {
      if (error.code !== "SCHEDULE_NOT_FOUND") asking.explain("a change of a schedule", error)
    }
  }

  /** What is done how often. */
  const kinds = [
    [40, () => enqueue("work", { ms: between(0, 30), failUntil: random() < 0.15 ? 2 : 0 })],
    [6, () => enqueue("work", { ms: between(300, 1_500) })],
    [3, () => enqueue("stubborn", { ms: between(300, 2_000) })],
    [8, () => later(between(100, 2_500))],
    [5, () => urgent(between(-2, 2))],
    [5, () => shared(`key-${between(1, 8)}`)],
    [4, keyed],
    [3, many],
    [8, inTransaction],
    [6, () => enqueue("booking", { schema, ms: between(0, 20) })],
    [4, () => enqueue("single", { ms: between(1, 40) })],
    [2, () => enqueue("timed", { ms: random() < 0.5 ? 2_000 : 1 })],
    [1, () => enqueue("doomed", { bury: random() < 0.5 })],
    [1, () => enqueue("work", {}, { startWithin: "300ms" }, { mayExpire: true })],
    [2, changeMind],
    [4, () => (recent.length > 0 ? cancel(recent[between(0, recent.length - 1)]) : undefined)],
  ]
  if (load?.steers) kinds.push([2, steer])
  const total = kinds.reduce((sum, [weight]) => sum + weight, 0)

  function choose() {
    let left = random() * total
    for (const [weight, act] of kinds) {
      left -= weight
      if (left < 0) return act
    }
    return kinds[0][1]
  }

  function one() {
    if (under.size < MOST_AT_ONCE) begin(choose())
  }

  /** One pass after the other: two at once could not be told apart. */
  function follow() {
    if (isFollowing) return
    isFollowing = true
    begin(() =>
      reader
        .follow()
        .catch((error) => asking.explain("a reader of history", error))
        .finally(() => {
          isFollowing = false
        }),
    )
  }

  function begin(act) {
    const done = Promise.resolve(act())
      .catch((error) => say({ type: "surprise", text: `the load failed: ${error.stack}` }))
      .finally(() => under.delete(done))
    under.add(done)
  }

  return {
    cancel,
    begin: async ({ rate }) => {
      clearInterval(timer)
      clearInterval(following)
      timer = setInterval(one, 1_000 / rate)
      following = setInterval(follow, FOLLOW_EVERY_MS)
    },
    /** Ends the load; resolves when everything that was asked for has been answered. */
    quiet: async () => {
      clearInterval(timer)
      clearInterval(following)
      await Promise.all(under)
      return recent.length
    },
    close: () => pool.end(),
  }
}

/** Mulberry32. */
function createRandom(seed) {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
