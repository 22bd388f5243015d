/** The reads behind pages and lists, each as a person asks: with other values from call to call. */

const TENANTS = 2_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Pairs of a name and a call. A call takes its number. */
export async function readsOf(carillon) {
  const ids = (await carillon.runs.list({ filter: "state:succeeded", limit: 1_000 })).items.map(
    ({ id }) => id,
  )
  const live = (await carillon.runs.list({ filter: "state:ready", limit: 1_000 })).items.map(({ id }) => id)
  const groups = (await carillon.deadLetters.groups()).items.map(({ job, fingerprint }) => ({
    job,
    fingerprint,
  }))
  const list = (filter) => (call) => carillon.runs.list({ filter: filter(call) })
  const count = (filter) => (call) => carillon.runs.count({ filter: filter(call) })
  const tenant = (call) => `tenant-${(call * 37) % TENANTS}`
  const since = (ms) => ({ from: new Date(Date.now() - ms) })
  return [
    ["runs: the newest", list(() => "")],
    ["runs: a page further on", secondPage(carillon)],
    ["runs: ready", list(() => "state:ready")],
    ["runs: dead", list(() => "state:dead")],
    ["runs: ended", list(() => "state:succeeded,cancelled,expired")],
    ["runs: of a job", list(() => "job:invoice.create")],
    ["runs: of jobs by their beginning", list(() => "job:invoice.*")],
    ["runs: of a tenant", list((call) => `tenant:${tenant(call)}`)],
    ["runs: cancelled within a day", list(() => "state:cancelled finished>-1d")],
    ["runs: with a tag", list(() => "tag:nightly")],
    ["runs: of a worker", list((call) => `worker:web-${call % 6}`)],
    ["runs: by an error", list(() => "error:SMTP_421")],
    ["runs: by a value in the input", list((call) => `input.customer.id=${call * 13}`)],
    ["runs: of a day last week", list((call) => `finished>-${(call % 5) + 2}d finished<-${(call % 5) + 1}d`)],
    ["runs: none match", list(() => "job:nothing.like.it")],
    ["count: all", count(() => "")],
    ["count: ready", count(() => "state:ready")],
    ["count: dead", count(() => "state:dead")],
    ["count: of a job, cancelled", count(() => "job:email.send state:cancelled")],
    ["run: ended", (call) => carillon.runs.get(ids[call % ids.length])],
    ["run: live", (call) => carillon.runs.get(live[call % live.length])],
    ["run: its attempts", (call) => carillon.runs.attempts(ids[call % ids.length])],
    ["dead letters: groups", () => carillon.deadLetters.groups()],
    ["dead letters: a group", (call) => carillon.deadLetters.group(groups[call % groups.length])],
    ["dead letters: the newest", () => carillon.deadLetters.list()],
    ["jobs", () => carillon.jobs.list()],
    ["pools", () => carillon.pools.list()],
    ["workers", () => carillon.workers.list()],
    ["audit", () => carillon.audit.list()],
    ["stats: now", () => carillon.stats.now()],
    ["stats: an hour by job", () => carillon.stats.series({ ...since(HOUR_MS), by: ["job", "outcome"] })],
    [
      "stats: a day by hour",
      () => carillon.stats.series({ ...since(DAY_MS), step: "hour", by: ["outcome"] }),
    ],
    [
      "stats: a week by hour",
      () => carillon.stats.series({ ...since(7 * DAY_MS), step: "hour", by: ["job"] }),
    ],
    ["stats: an hour by tenant", () => carillon.stats.series({ ...since(HOUR_MS), by: ["tenant"] })],
    ["stats: depths of a day", () => carillon.stats.depths({ ...since(DAY_MS) })],
  ]
}

function secondPage(carillon) {
  let cursor
  return async () => {
    cursor ??= (await carillon.runs.list({ limit: 1_000 })).nextCursor
    return carillon.runs.list({ limit: 50, cursor })
  }
}
