/** Judges a row by everything that its processes wrote down and everything that the database holds in the end. */
import { join } from "node:path"
import { createSystemHost } from "../../src/runtime/system.ts"
import { openServer } from "../../src/store/server/server.ts"
import { type Examination, examine } from "../support/history/check.ts"
import type { Entry, History } from "../support/history/operations.ts"
import { readHistory } from "../support/history/read-history.ts"
import { INVARIANTS } from "../support/history/violation.ts"
import { readFinal } from "../support/process/final-read.ts"
import { breach } from "./breach.ts"
import type { Stage } from "./fault.ts"
import { everySecond, SCHEDULES } from "./schedules.ts"
import { inTrueTime } from "./true-time.ts"
import type { World } from "./world.ts"

export interface Verdict {
  readonly runs: number
  readonly attempts: number
  readonly lost: number
  readonly duplicates: number
  readonly fenced: number
  readonly judged: readonly string[]
  readonly complaints: readonly string[]
}

/** Of a thousand complaints the first few say what is wrong. */
const MOST = 12

export async function judge(
  world: World,
  { schedules = SCHEDULES, unjudged = {} }: Stage,
): Promise<Verdict & { readonly examination: Examination }> {
  const history = readHistory(join(world.folder, "history"))
  // Before the judge has sessions of its own.
  const sessions = await complaintsAboutSessions(world)
  const database = openServer(createSystemHost(), { url: world.server.url, schema: world.schema })
  try {
    const read = await readFinal(database)
    const final = world.clock ? inTrueTime(read, world.clock.steps) : read
    const examination = examine([...(await firesOf(world)), ...history], final)
    const { statistics } = examination
    const violations = examination.violations.filter(({ invariant }) => !(invariant in unjudged))
    return {
      examination,
      runs: statistics.runs,
      attempts: final.attempts.length,
      lost: statistics.lost,
      duplicates: statistics.duplicates,
      fenced: statistics.fenced,
      judged: [...Object.keys(INVARIANTS), "I9", "I24", "I25", "I31"].filter((name) => !(name in unjudged)),
      complaints: [
        ...violations.slice(0, MOST).map(({ invariant, says }) => breach(invariant, says)),
        ...(violations.length > MOST ? [`... and ${violations.length - MOST} more.`] : []),
        ...(await complaintsAboutSeconds(world, everySecond(schedules))),
        ...sessions,
      ],
    }
  } finally {
    await database.close()
  }
}

/** What schedules made was asked for by them. */
async function firesOf({ talk, schema }: World): Promise<History> {
  const rows = await talk.ask(`select distinct run from "${schema}".fires where run is not null`)
  return rows.map(({ run }, seq): Entry => ({ op: "enq_invoke", run: String(run), ns: 0n, pid: 0, seq }))
}

/** Every second is decided about exactly once, whatever was decided. */
async function complaintsAboutSeconds({ talk, schema }: World, names: readonly string[]): Promise<string[]> {
  const rows = await talk.ask(
    `with decided as (
       select s.name, extract(epoch from f.occurrence)::bigint as first, extract(epoch from f.last)::bigint as last, f.count,
         floor(extract(epoch from s.created_at))::bigint as made, floor(extract(epoch from s.cursor))::bigint as done
       from "${schema}".schedules as s join "${schema}".fires as f on f.schedule = s.id and f.generation = 1
       where s.name = any($1) and (f.reason is distinct from 'paused'))
     select name, made, max(done) as done, min(first) as first, max(last) as last, sum(count) as many,
       sum(last - first + 1) as spanned
     from decided group by name, made`,
    [names],
  )
  const found = new Map(rows.map((row) => [row["name"], row]))
  return names.flatMap((name) => {
    const row = found.get(name)
    if (!row) return [breach("I9", `${name} has never fired.`)]
    const [made, first, last, many, spanned] = ["made", "first", "last", "many", "spanned"].map((key) =>
      Number(row[key]),
    )
    const wanted = Number(last) - Number(made)
    return many === wanted && spanned === wanted && first === Number(made) + 1
      ? []
      : [
          breach(
            "I9",
            `${name} decided about ${many} of the ${wanted} seconds from ${made} to ${last} (first ${first}, spanned ${spanned}).`,
          ),
        ]
  })
}

/** Nobody is there any more: nothing of theirs may be left. */
async function complaintsAboutSessions(world: World): Promise<string[]> {
  const left = async () => {
    const [row] = await world.talk.ask(
      `select (select count(*)::int from pg_stat_activity where application_name = 'carillon') as open,
         (select count(*)::int from pg_stat_activity where state like 'idle in transaction%') as idle,
         (select count(*)::int from pg_locks where locktype = 'advisory') as locks`,
    )
    return row
  }
  const isClean = await world.until(async () => {
    const row = await left()
    return row?.["open"] === 0 && row["idle"] === 0 && row["locks"] === 0
  }, 10_000)
  return isClean
    ? []
    : [breach("I25", `everybody has stopped, and there is still: ${JSON.stringify(await left())}.`)]
}
