import { beforeAll, describe, expect, it } from "vitest"
import { RUN_LIFE } from "../../src/queue/run-state.ts"
import { describeEngines, SERVERS } from "../support/engines.ts"
import { ACTS, type Act, KINDS, type Kind, PHASES, type Phase, phaseAfter } from "../support/run-life.ts"
import { enqueueAlone, expectSound, type Life, look, phaseOf, withFence } from "../support/run-life-stage.ts"
import { type Stopped, withStoppedClock } from "../support/runs.ts"
import { hold, untilBlocked } from "../support/sql.ts"

/** How a run comes to its state. */
const ROUTES: Readonly<Record<Phase, readonly string[]>> = {
  waiting: ["later"],
  "in line": [],
  ready: ["now"],
  paused: ["now", "pause its job"],
  "of a paused tenant": ["now", "pause its tenant"],
  unhandled: ["now", "miss its handler"],
  running: ["now", "claim", "start"],
  cancelling: ["now", "claim", "start", "cancel"],
  dead: ["now", "claim", "start", "bury"],
  succeeded: ["now", "claim", "start", "succeed"],
  cancelled: ["now", "cancel"],
  expired: ["now", "claim", "expire"],
  discarded: ["now", "claim", "start", "bury", "discard"],
}
const phases = Object.keys(PHASES) as Phase[]
const actNamed = (name: string): Act => ACTS[name] ?? expect.fail(`there is no act ${name}`)
const possibleAt = (phase: Phase) => Object.keys(ACTS).filter((name) => actNamed(name).from.includes(phase))
const isReachable = (kind: Kind, phase: Phase) => kind === "limited" || phase !== "in line"

/** Brings a new run there, by real statements, and checks every step. */
async function bring({ database, clock }: Stopped, kind: Kind, phase: Phase): Promise<Life> {
  await clock.set("2026-03-01T09:00Z")
  let life = await enqueueAlone(database, kind, phase !== "waiting")
  await clock.set("2026-03-01T09:00:10Z")
  let now: Phase = phase === "waiting" ? "waiting" : kind === "limited" ? "in line" : "ready"
  const steps = ROUTES[phase].flatMap((step) => {
    if (step === "now") return kind === "limited" ? ["admit"] : []
    if (step === "start") return kind === "fragile" ? ["record its start"] : []
    return step === "later" ? [] : [step]
  })
  for (const step of steps) {
    const act = actNamed(step)
    expect(await database.transaction((tx) => act.perform(tx, life)), `${step} on the way to ${phase}`).toBe(
      true,
    )
    now = phaseAfter(kind, now, step)
    life = await withFence(life)
  }
  expect(now).toBe(phase)
  const sight = await look(life)
  expect(phaseOf(sight)).toBe(phase)
  expectSound(life, sight, `a ${phase} run`)
  return life
}

describe("the acts", () => {
  it("do everything that can happen to a run, and nothing else", () => {
    const known = Object.entries(RUN_LIFE).flatMap(([state, events]) =>
      Object.keys(events).map((event) => `${state}: ${event}`),
    )
    const done = phases.flatMap((phase) =>
      possibleAt(phase).flatMap((name) =>
        KINDS.map((kind) => [PHASES[phase], actNamed(name).event(kind, phase)]),
      ),
    )
    const said = done
      .filter(([, event]) => event !== "stays" && event !== "keeps")
      .map(([state, event]) => `${state}: ${event}`)
    expect([...new Set(said)].toSorted()).toEqual(known.toSorted())
  })
})

describeEngines("a run", (engine) => {
  let stage: Stopped
  beforeAll(async () => {
    stage = await withStoppedClock(engine)
  })

  describe.each(KINDS)("that is %s", (kind) => {
    describe.each(phases.filter((phase) => isReachable(kind, phase)))("and stands at %s", (phase) => {
      it.each(Object.keys(ACTS))("becomes what its life says, or stays as it is: %s", async (name) => {
        const life = await bring(stage, kind, phase)
        const before = await look(life)
        const act = actNamed(name)
        const isPossible = act.from.includes(phase)
        const isDone = await stage.database.transaction((tx) => act.perform(tx, life))
        expect(isDone, "what it says about itself").toBe(isPossible)
        const after = await look(life)
        if (!isPossible) expect(after).toEqual(before)
        expect(phaseOf(after)).toBe(phaseAfter(kind, phase, name))
        expectSound(life, after, name)
      })
    })
  })
})

describeEngines(
  "two acts at once on a run",
  (engine) => {
    let stage: Stopped
    beforeAll(async () => {
      stage = await withStoppedClock(engine)
    })

    /** One act in a transaction that stays open, another beside it, then the end of the first. */
    async function race(
      kind: Kind,
      phase: Phase,
      [first, second]: readonly [string, string],
      isCommitted: boolean,
    ) {
      const { database } = stage
      const life = await bring(stage, kind, phase)
      const [one, other] = [actNamed(first), actNamed(second)]
      const holder = await hold(database, async (tx) => expect(await one.perform(tx, life)).toBe(true))
      const drawnByFirst = life.drawn.length
      const competing = database.transaction((tx) => other.perform(tx, life))
      const ended = competing.then(() => true)
      await Promise.race([ended, untilBlocked(database)])
      if (!isCommitted && first === "claim") life.drawn = life.drawn.toSpliced(drawnByFirst - 1, 1)
      await (isCommitted ? holder.release() : holder.rollBack())
      let isDone = await competing
      const between = isCommitted ? phaseAfter(kind, phase, first) : phase
      const note = `${first} ${isCommitted ? "committed" : "rolled back"}, then ${second}`
      const isPossible = other.from.includes(between)
      // An act that skips locked runs comes again; an act that waits for the lock has got it.
      if (isPossible && !isDone && other.skips) {
        const sight = await look(life)
        expect(phaseOf(sight), `${note}, which passed over it`).toBe(between)
        expectSound(life, sight, note)
        isDone = await database.transaction((tx) => other.perform(tx, life))
      }
      expect(isDone, `${note}: what it says about itself`).toBe(isPossible)
      const sight = await look(life)
      expect(phaseOf(sight), note).toBe(isPossible ? phaseAfter(kind, between, second) : between)
      expectSound(life, sight, note)
    }

    /** A run under limits has the most to lose; the others are raced where they differ from it. */
    const raced: readonly (readonly [Kind, Phase])[] = [
      ...phases.map((phase) => ["limited", phase] as const),
      ...(["waiting", "paused", "dead"] as const).map((phase) => ["plain", phase] as const),
      ["fragile", "running"],
    ]
    const pairs = raced.flatMap(([kind, phase]) =>
      possibleAt(phase).flatMap((first) =>
        possibleAt(phase)
          // A fragile run differs only in its loss.
          .filter((second) => kind !== "fragile" || first === "lose" || second === "lose")
          .map((second) => [kind, phase, first, second] as const),
      ),
    )

    it.each(pairs)(
      "that is %s and stands at %s happen one after the other: %s, %s",
      async (kind, phase, ...names) => {
        for (const isCommitted of [true, false]) await race(kind, phase, names, isCommitted)
      },
    )
  },
  SERVERS,
)
