/**
 * I18: of the runs of a job with the same key, one is alive at a time.
 *
 * The key is held from the enqueue to the end of the run, and is free then: a key that is held in the end is that of a
 * live run. A replay of a dead run does not take its key again.
 */
import { type Facts, generationsOf, groupBy, type RunFacts } from "./facts.ts"
import { type Complaint, type Judgement, judgement } from "./judgement.ts"

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
  ])
}

/** From its enqueue to its end, or for ever. */
function lifeOf(run: RunFacts): (Life & { readonly name: string })[] {
  const { key, job } = run.asked
  const [first] = generationsOf(run)
  const [made] = [...run.rows, ...run.live]
  if (key === undefined || !first || !made) return []
  const toUs = first.ends.at(-1)?.finishedAtUs ?? Number.POSITIVE_INFINITY
  const name = JSON.stringify([job ?? made.job, key])
  return [{ name, run: run.run, fromUs: made.enqueuedAtUs, toUs }]
}

/** In the order of their enqueues, so each needs to be compared with the one that lived longest before it only. */
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

/** One whose key has a time of its own may outlive it. */
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
  const live = new Set(read.runs.map(({ run }) => run))
  return read.keys
    .filter(({ run, expiresAtUs }) => expiresAtUs === null && !live.has(run))
    .map(({ key, run }) => ({ subject: run, says: `Key ${key} is held by run ${run}, which has ended.` }))
}
