/**
 * Random histories in which nothing is wrong: whatever crashes, pauses and answers that are lost can do to a
 * queue.
 */
import fc from "fast-check"
import type { EnqueueAnswer, ModelProcess } from "./process.ts"
import { BOOKING, type NewRun, type Settle } from "./queue.ts"
import { createWorld, type Evidence, type World } from "./world.ts"

/** One thing that happens. The numbers choose among whatever is there when it does. */
interface Step {
  readonly kind: keyof typeof STEPS
  readonly who: number
  readonly what: number
  readonly how: number
}

interface Actors {
  readonly world: World
  readonly processes: readonly ModelProcess[]
  readonly me: ModelProcess
  /** Every run that a process tried to enqueue. */
  readonly asked: NewRun[]
}

const ANSWERS: readonly EnqueueAnswer[] = [
  "ok",
  "ok",
  "ok",
  "fail",
  "info written",
  "info unwritten",
  "death",
]
const OUTCOMES: readonly Settle["outcome"][] = [
  "succeeded",
  "failed",
  "failed",
  "timed_out",
  "released",
  "snoozed",
  "cancelled",
]

const STEPS = {
  enqueue: ({ world, me, asked }: Actors, { what, how }: Step) => {
    const run = world.newRun({
      ...{ allowed: 1 + (what % 3), mayExpire: what % 5 === 0, priority: how % 3 },
      ...(what % 4 === 1 && { job: BOOKING }),
      ...(what % 7 === 2 && { key: `key-${how % 2}` }),
      ...(what % 7 === 4 && { key: `once-${how % 3}`, remembered: true }),
      ...(what % 6 === 3 && { delayMs: 100 * (1 + (how % 9)) }),
      ...(what % 3 === 1 && { limits: [{ key: "narrow", cap: 2 }] }),
    })
    // A key may be taken: then it is that run which is acknowledged.
    if (run.key === null) asked.push(run)
    me.enqueue(run, pick(ANSWERS, how))
  },
  enqueueInTransaction: ({ world, me }: Actors, { what, how }: Step) => {
    const run = world.newRun({ allowed: 1 + (what % 3) })
    me.enqueueInTransaction(run, `mark of ${run.run}`, pick(ANSWERS, how))
  },
  enqueueAgain: ({ me, asked }: Actors, { what }: Step) => {
    const run = pick(asked, what)
    if (run) me.enqueue(run)
  },
  claim: ({ me }: Actors, { how }: Step) => me.claim(1 + (how % 3), how % 11 === 0),
  start: ({ me }: Actors, { what, how }: Step) => {
    const run = pick(
      me.held().filter(({ startedAtUs }) => startedAtUs === null),
      what,
    )
    if (!run) return
    if (run.mayExpire && how % 4 === 0) me.settle(run, "expired")
    else me.start(run, how === 1)
  },
  settle: ({ me }: Actors, { what, how }: Step) => {
    const run = pick(
      me.held().filter(({ startedAtUs }) => startedAtUs !== null),
      what,
    )
    const outcome = pick(OUTCOMES, how)
    if (run && outcome) me.settle(run, outcome, what % 7 === 0)
  },
  release: ({ me }: Actors, { what }: Step) => {
    const run = pick(me.held(), what)
    if (run) me.settle(run, "released")
  },
  die: ({ me }: Actors) => me.die(),
  reap: ({ me, processes }: Actors, { what, how }: Step) => {
    const victim = pick(processes, what)
    if (victim && victim !== me) me.reap(victim.lease(), how % 5 === 0)
  },
  noticeLoss: ({ world, me }: Actors) => {
    const mine = world.queue.read().workers.find(({ lease }) => lease === me.lease())
    if (mine?.dead) me.noticeLoss()
  },
  promote: ({ world }: Actors) => world.promote(),
  tick: ({ world }: Actors, { what }: Step) => {
    world.rest((what % 3) * 700)
    world.schedules.tick()
  },
  pause: ({ world, me }: Actors, { what }: Step) => {
    const schedule = pick(world.schedules.names(), what)
    if (schedule && world.schedules.pause(schedule)) me.say("sched_pause", { schedule })
  },
  resume: ({ world, me }: Actors, { what, how }: Step) => {
    world.rest((how % 5) * 1_500)
    const schedule = pick(world.schedules.names(), what)
    if (schedule && world.schedules.resume(schedule)) me.say("sched_resume", { schedule })
  },
  edit: ({ world, me }: Actors, { what, how }: Step) => {
    const schedule = pick(world.schedules.names(), what)
    const version = schedule && how % 2 === 0 ? world.schedules.edit(schedule, how) : undefined
    if (schedule && version) me.say("sched_put", { schedule, version })
  },
  observe: ({ world }: Actors) => world.observe(),
  stop: ({ me }: Actors) => me.stop(),
  cancel: ({ world, me }: Actors, { what, how }: Step) => {
    const run = pick(world.queue.runs(), what)
    if (run) me.cancel(run, how % 5 === 0)
  },
  replay: ({ world }: Actors, { what }: Step) => {
    const run = pick(world.queue.dead(), what)
    if (run) world.queue.replay(run)
  },
  discard: ({ world }: Actors, { what }: Step) => {
    const run = pick(world.queue.dead(), what)
    if (run) world.queue.discard(run)
  },
} as const satisfies Record<string, (actors: Actors, step: Step) => void>

/** How often each happens beside the others. */
const WEIGHTS: Readonly<Record<keyof typeof STEPS, number>> = {
  enqueue: 4,
  enqueueInTransaction: 1,
  enqueueAgain: 1,
  claim: 8,
  start: 14,
  settle: 14,
  release: 1,
  die: 1,
  reap: 1,
  noticeLoss: 2,
  promote: 4,
  tick: 2,
  pause: 1,
  resume: 1,
  edit: 1,
  observe: 1,
  stop: 1,
  cancel: 1,
  replay: 3,
  discard: 1,
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    ...(Object.keys(STEPS) as Step["kind"][]).flatMap((kind) =>
      Array.from({ length: WEIGHTS[kind] }, () => kind),
    ),
  ),
  who: fc.nat(99),
  what: fc.nat(99),
  how: fc.nat(99),
})

/** What a checker is given after everything has been healed and drained. */
export const anyEvidence: fc.Arbitrary<Evidence> = fc.oneof(
  { weight: 5, arbitrary: fc.array(anyStep, { maxLength: 200, size: "max" }).map(simulate) },
  { weight: 1, arbitrary: fc.array(fc.nat(2), { maxLength: 40, size: "max" }).map(workAlone) },
)

function simulate(steps: readonly Step[]): Evidence {
  const world = createWorld()
  const processes = [world.spawn(), world.spawn(), world.spawn()]
  const asked: NewRun[] = []
  for (const step of steps) {
    const seat = step.who % processes.length
    const me = processes[seat]
    if (me?.isAlive()) STEPS[step.kind]({ world, processes, me, asked }, step)
    // A supervisor restarts dead processes.
    else processes[seat] = world.spawn()
  }
  world.conclude(world.drain())
  return world.evidence()
}

/** Runs of these priorities, and one worker that comes when all of them are there. */
function workAlone(priorities: readonly number[]): Evidence {
  const world = createWorld()
  const client = world.spawn()
  for (const priority of priorities) client.enqueue(world.newRun({ priority }))
  world.conclude(world.drain())
  return world.evidence()
}

function pick<T>(from: readonly T[], index: number): T | undefined {
  return from[index % Math.max(1, from.length)]
}
