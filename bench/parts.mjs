/** What can be measured, in the order in which it is. Each is loaded only when it is asked for. */

/** A part in which contenders take turns. */
const contestOf = (name) => async () => {
  const [{ CONTESTS }, { contest }] = await Promise.all([
    import("./queue/contests.mjs"),
    import("./queue/contest.mjs"),
  ])
  return (options) => contest(CONTESTS[name], options)
}
const runOf = (load) => async () => (await load()).run

export const PARTS = {
  time: { title: "next occurrences and previews", load: runOf(() => import("./time/run.mjs")) },
  bulk: {
    title: "enqueue in bulk, beside the peers",
    load: contestOf("bulk"),
  },
  single: {
    title: "enqueue one by one, beside the peers",
    load: contestOf("single"),
  },
  drain: {
    title: "execute from a full queue by 1, 2 and 4 processes, beside the peers",
    load: contestOf("drain"),
  },
  sleep: {
    title: "the same with handlers that sleep",
    load: contestOf("sleep"),
  },
  both: {
    title: "enqueue and execute at once for a minute, beside the peers",
    load: contestOf("both"),
  },
  latency: {
    title: "from enqueue to start, beside the peers",
    load: contestOf("latency"),
  },
  snapshot: {
    title: "loads while a snapshot is held for a minute, beside the peers on PostgreSQL",
    load: runOf(() => import("./snapshot/run.mjs")),
  },
  delayed: {
    title: "the same with jobs that are due a second later",
    load: runOf(() => import("./snapshot/delayed.mjs")),
  },
  scheduled: {
    title: "occurrences of schedules while a snapshot is held",
    load: runOf(() => import("./snapshot/scheduled.mjs")),
  },
  aged: {
    title: "processes that start while a snapshot is held, beside the peers on PostgreSQL",
    load: runOf(() => import("./snapshot/aged.mjs")),
  },
  millions: {
    title: "claims with 10 million finished, 10 million future and 1 million ready runs",
    load: runOf(() => import("./millions/run.mjs")),
  },
  embedded: {
    title: "Carillon on the embedded server and on PGlite, and its start",
    load: runOf(() => import("./embedded/run.mjs")),
  },
  debian: {
    title: "Carillon on Debian's PostgreSQL as it comes, beside npm's binaries",
    load: runOf(() => import("./debian/run.mjs")),
  },
  harness: {
    title: "the scenarios of the public cross-system harness (--scenario NAME)",
    load: runOf(() => import("./harness/run.mjs")),
  },
  occurrences: {
    title: "occurrences of schedules with default settings, beside plain runs",
    load: runOf(() => import("./schedules/occurrences.mjs")),
  },
  pages: {
    title: "reads on 10 million ended and 1 million live runs",
    load: runOf(() => import("./scale/run.mjs")),
  },
  schedules: { title: "a million schedules", load: runOf(() => import("./schedules/run.mjs")) },
}

/** Several parts under one name. */
export const GROUPS = { queue: ["bulk", "single", "drain", "sleep", "both", "latency"] }

/** In these there are others to choose from, by `--only`. */
export const WITH_PEERS = [...GROUPS.queue, "snapshot", "delayed", "aged", "harness"]

/** Together within two minutes. */
export const QUICK_PARTS = ["bulk", "single", "drain", "both", "latency"]
