/**
 * I18: of the runs of a job with the same key, one is alive at a time; and where the key is remembered there is no
 * other for a day after the end of the last.
 *
 * A key is held from the enqueue to the end of the run. A remembered key is also held by a dead letter, and for a day
 * at least by an ended run; after that another run may have it, and no replay takes it back. So a key that is held
 * without an end belongs to a live run or a dead letter.
 */
import { type Facts, generationsOf, groupBy, type RunFacts } from "./facts.ts"
import { type Complaint, type Judgement, judgement } from "./judgement.ts"

const DAY_US = 86_400_000_000

interface Life {
  readonly run: string
  readonly fromUs: number
  readonly toUs: number
}

export function oneRunPerKey(facts: Facts): Judgement {
  const { keys, runs: live } = facts.read
  const lives = groupBy(facts.runs.flatMap(lifeOf), ({ name }) => name)
  const holders = groupBy(
    live.filter(({ key, generation }) => key !== null && generation === 1),
    ({ tenant, job, key }) => JSON.stringify([tenant, job, key]),
  )
  const judged = [...lives.values()].reduce((sum, { length }) => sum + length, 0) + keys.length
  return judgement("I18", judged, [
    ...[...lives].flatMap(([name, of]) => complaintsAboutLives(name, of)),
    ...[...holders].flatMap(([name, of]) => complaintsAboutHolders(facts, name, of)),
    ...complaintsAboutKeys(facts),
    ...complaintsAboutForgotten(facts),
  ])
}

/** From its enqueue to its end, or for ever. */
function lifeOf(run: RunFacts): (Life & { readonly name: string })[] {
  const { key, job } = run.asked
  const [first] = generationsOf(run)
  const [made] = [...run.rows, ...run.live]
  if (key === undefined || !first || !made) return []
  const endedAtUs = first.ends.at(-1)?.finishedAtUs ?? Number.POSITIVE_INFINITY
  const toUs = run.asked.remembered ? rememberedUntilUs(run) : endedAtUs
  const name = JSON.stringify([job ?? made.job, key])
  return [{ name, run: run.run, fromUs: made.enqueuedAtUs, toUs }]
}

/** At the least: an ended run, whether it was replayed in between or not, holds its key for another day. */
function rememberedUntilUs({ rows, live, deadLetters }: RunFacts): number {
  const ended = rows.findLast(({ runState }) => runState !== null)
  if (!ended || live.length > 0 || deadLetters.length > 0) return Number.POSITIVE_INFINITY
  return ended.finishedAtUs + DAY_US
}

/** Keys that should be remembered and are not. */
function complaintsAboutForgotten({ runs, read }: Facts): Complaint[] {
  const holders = new Set(read.keys.map(({ run }) => run))
  return runs
    .filter((run) => run.asked.remembered && run.rows.length + run.live.length > 0)
    .filter((run) => read.nowUs < rememberedUntilUs(run) && !holders.has(run.run))
    .map(({ run, asked }) => ({ subject: run, says: `Key ${asked.key} of run ${run} is not remembered.` }))
}

/** In the order of their enqueues, so each is compared only with the longest-lived one before it. */
function complaintsAboutLives(name: string, lives: readonly Life[]): Complaint[] {
  const inOrder = [...lives].sort((a, b) => a.fromUs - b.fromUs)
  let longest: Life | undefined
  return inOrder.flatMap((life) => {
    const before = longest
    if (!before || life.toUs > before.toUs) longest = life
    if (!before || life.fromUs >= before.toUs) return []
    const says = `Run ${life.run} was made under key ${name} while run ${before.run} had it.`
    return [{ subject: life.run, says }]
  })
}

/** A key with a time of its own may outlive its run. */
function complaintsAboutHolders(
  { read }: Facts,
  name: string,
  holders: readonly { readonly run: string }[],
): Complaint[] {
  const isTimed = read.keys.some(
    ({ tenant, job, key, expiresAtUs }) =>
      expiresAtUs !== null && JSON.stringify([tenant, job, key]) === name,
  )
  if (holders.length < 2 || isTimed) return []
  const runs = holders.map(({ run }) => run).join(", ")
  return [{ subject: name, says: `Key ${name} has ${holders.length} live runs: ${runs}.` }]
}

function complaintsAboutKeys({ read }: Facts): Complaint[] {
  const live = new Set([...read.runs, ...read.deadLetters].map(({ run }) => run))
  return read.keys
    .filter(({ run, expiresAtUs }) => expiresAtUs === null && !live.has(run))
    .map(({ key, run }) => ({ subject: run, says: `Key ${key} is held by run ${run}, which has ended.` }))
}
