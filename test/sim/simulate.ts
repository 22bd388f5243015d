/** One seed: random faults over a random workload, then a quiet phase, then the checker. */

import { CarillonError } from "../../src/errors.ts"
import type { CarillonEvent } from "../../src/observe/events.ts"
import { type Network, PERFECT } from "./database/faults.ts"
import { createServer, type Server } from "./database/server.ts"
import { type Ground, START_US } from "./database/shared-database.ts"
import { judge, type Verdict } from "./judge.ts"
import { createKernel, type Kernel } from "./kernel/kernel.ts"
import { createChance } from "./kernel/seeded-random.ts"
import { createTrace } from "./kernel/trace.ts"
import { livePeacefully, type PeaceParts } from "./workload/after-faults.ts"
import { settleBulk, steerInBulk } from "./workload/bulk.ts"
import { type Calls, createCalls, enqueueRecorded } from "./workload/calls.ts"
import { type ClientParts, runClient } from "./workload/clients.ts"
import { drawTask, makeJobs } from "./workload/jobs.ts"
import { createNemesis } from "./workload/nemesis.ts"
import { drawPlan, type Plan } from "./workload/plan.ts"
import { followRuns, readAllRuns } from "./workload/reader.ts"
import { endSchedules, makeSchedules } from "./workload/schedules.ts"
import { createBacklog, standingStill } from "./world/backlog.ts"
import { createObserver } from "./world/observer.ts"
import { createProcess, type Life, type SimProcess } from "./world/process.ts"
import { guardAmbient } from "./world/real-time-guard.ts"
import { createRecorder } from "./world/recorder.ts"
import { describe, isUnexpected } from "./world/unexpected-errors.ts"

export interface Simulation extends Verdict {
  readonly seed: number
  readonly hash: string
  readonly steps: number
  readonly virtualMs: number
  /** How often each fault happened. */
  readonly faults: Readonly<Record<string, number>>
}

const SECOND_US = 1_000_000
const NEVER_US = Number.NEGATIVE_INFINITY
/** How often the simulation checks whether everything is over. */
const LOOK_EVERY_US = 500_000
/** A call without an answer has its deadline of 30 s; then leases expire, and doubts are resolved. */
const RECOVER_US = 150 * SECOND_US
/** After that, no process waits any more for an answer that will not come. */
const SILENCE_US = 35 * SECOND_US
/** A listener whose session the server ended hears nothing until it asks: every 30 s, and then it dials anew. */
const DEAFNESS_US = 45 * SECOND_US
/** All other listeners are back by then: they try more and more rarely, but every ten seconds. */
const REDIAL_US = 12 * SECOND_US
const STOP_US = 60 * SECOND_US
/** Between two attempts. */
const LONGEST_WAIT_MS = 1_000

const realImmediate = setImmediate

export async function simulate(
  ground: Ground,
  seed: number,
  print?: (line: string) => void,
): Promise<Simulation> {
  ground.reset()
  const ambient = guardAmbient(ground.realMs)
  const troubles: string[] = []
  const onRejection = (reason: unknown) => troubles.push(`no code handled ${describe(reason)}`)
  process.on("unhandledRejection", onRejection)
  try {
    const chance = createChance(`seed ${seed}`)
    const trace = createTrace(print)
    const turn = () => new Promise<void>((resolve) => realImmediate(resolve))
    const kernel = createKernel({ chance: chance.fork("order"), trace, turn })
    const server = createServer({ kernel, wire: ground.wire, startUs: START_US, trust: ambient.trust })
    const plan = drawPlan(chance.fork("plan"))
    kernel.note(`plan ${JSON.stringify(plan, (_, value) => (value instanceof Set ? [...value] : value))}`)
    const world = createWorld({ ground, kernel, server, plan, seed, troubles })
    await world.run()
    ambient.restore()
    const verdict = await judge(ground, {
      history: world.history,
      troubles: [...troubles, ...ambient.offences],
      overdue: world.overdue,
      clockSet: server.clockSet(),
      // The start of such a run is recorded before its handler starts, and others of its claim start meanwhile.
      unjudged: plan.traits.has("bury when lost") ? ["I16"] : [],
    })
    return {
      ...verdict,
      seed,
      hash: trace.hash(),
      steps: kernel.steps(),
      virtualMs: kernel.nowUs() / 1_000,
      faults: world.faults,
    }
  } finally {
    ambient.restore()
    process.off("unhandledRejection", onRejection)
  }
}

interface WorldParts {
  readonly ground: Ground
  readonly kernel: Kernel
  readonly server: Server
  readonly plan: Plan
  readonly seed: number
  readonly troubles: string[]
}

function createWorld({ ground, kernel, server, plan, seed, troubles }: WorldParts) {
  const chance = createChance(`seed ${seed}/world`)
  const recorder = createRecorder(kernel)
  const calls: Calls = createCalls()
  const faults: Record<string, number> = {}
  const overdue: string[] = []
  const cutUntilUs = new Map<SimProcess, number>()
  let network: Network = plan.network
  let isOver = false
  let isFollowed = plan.reader
  let pid = 0
  // The observer belongs to no process.
  const pen = recorder.penOf(0, () => true)
  const { schema } = ground
  const observer = createObserver({ kernel, server, schema, record: pen, hasSchedules: plan.schedules > 0 })
  const { left, leftover, longestLine, standings } = createBacklog(server, schema)
  let [silentUs, unheardUs] = [NEVER_US, NEVER_US]
  /** Calls that count as lost and may still take effect. */
  let strays = 0
  const count = (fault: string) => {
    faults[fault] = (faults[fault] ?? 0) + 1
    if (fault.startsWith("silent")) silentUs = kernel.nowUs()
    if (fault === "end unheard") unheardUs = kernel.nowUs()
  }
  const onTrouble = (says: string) => {
    kernel.note(`TROUBLE ${says}`)
    troubles.push(says)
  }
  const clients: ClientParts = {
    plan,
    calls,
    connections: { schema: ground.schema, open: (life) => life.dial() },
    isOver: () => isOver,
    known: [],
    onTrouble,
    busy: new Set(),
  }

  const following = { isOver: () => !isFollowed, isCalm: () => isOver, onTrouble }

  const processes = Array.from({ length: plan.processes }, (_, index): SimProcess => {
    const process: SimProcess = createProcess({
      kernel,
      server,
      recorder,
      name: String.fromCharCode(97 + index),
      schema: ground.schema,
      startUs: START_US,
      isAnswered: () => isOver && strays === 0 && kernel.nowUs() > silentUs + SILENCE_US,
      link: {
        network: () => network,
        cutUntilUs: () => cutUntilUs.get(process) ?? 0,
        count,
        stray: (change) => {
          strays += change
        },
        onSend: (commands) => {
          calls.onSend(commands)
          if (commands.some(({ label }) => label === "runs/claim")) process.life()?.record("claim_sent", {})
        },
      },
      skew: {
        wallMs: plan.skewed ? chance.between(-3_600_000, 3_600_000) : 0,
        speed: plan.skewed ? 1 + (chance.next() - 0.5) / 10_000 : 1,
        bootMs: chance.between(0, 1_000_000),
      },
      options: {
        lease: plan.leaseMs,
        pools: { default: plan.slots, ...(plan.traits.has("other pool") && { side: 1 }) },
        wakeups: plan.wakeups,
      },
      works: plan.latecomerUs === undefined || index === 0,
      makeJobs: (life, self) =>
        makeJobs({ life, plan, schema: ground.schema, enqueueIn: (tx) => enqueueAnother(self(), tx) }),
      onStarted: (life) => {
        if (life.pid === 1) void makeAllSchedules(life)
        if (isFollowed && index === plan.processes - 1) void followRuns(life, following)
        if (plan.bulk && index === 0) void steerInBulk(life, { isOver: () => isOver, onTrouble })
        for (let client = 0; client < plan.clients && !isOver; client += 1) void runClient(clients, life)
      },
      onCrashPoint: (dying, point) => nemesis.onCrashPoint(dying, point),
      onEvent: hear,
      onTrouble,
      nextPid: () => {
        pid += 1
        return pid
      },
    })
    return process
  })

  const peace: PeaceParts = {
    plan,
    calls,
    history: recorder.history,
    record: pen,
    clockUs: server.clockUs,
    left,
    leftover,
    lives: () => processes.filter(isAtWork).flatMap((process) => process.life() ?? []),
    setHeard: (isHeard) => {
      network = { ...PERFECT, notifications: { ...PERFECT.notifications, lost: isHeard ? 0 : 1 } }
    },
    until,
    onTrouble,
  }

  const nemesis = createNemesis({
    kernel,
    chance,
    plan,
    server,
    processes,
    count,
    record: pen,
    cut: (cutOff, us) => {
      kernel.note(`${cutOff.map(({ name }) => name)} cut off for ${Math.round(us / 1_000)} ms`)
      for (const process of cutOff) cutUntilUs.set(process, kernel.nowUs() + Math.ceil(us))
    },
  })

  /** The run of a handler's own transaction: it exists only if that commits. */
  async function enqueueAnother(life: Life | undefined, tx: object): Promise<void> {
    if (!life) return
    const call = calls.open(life, { job: "plain", attempts: plan.attempts, retry: plan.retry })
    const tasks = [drawTask(plan, life.chance)]
    await enqueueRecorded(life, call, { job: "plain", tasks, options: { tx: tx as never } })
  }

  /** The client that makes them may be suspended when everything heals: it is waited for like any other client. */
  async function makeAllSchedules(life: Life): Promise<void> {
    const self = { life }
    clients.busy.add(self)
    try {
      await makeSchedules(plan, life)
    } catch (error) {
      if (!(error instanceof CarillonError && error.code === "CLOSED"))
        onTrouble(`a schedule was refused: ${describe(error)}`)
    } finally {
      clients.busy.delete(self)
    }
  }

  function hear(event: CarillonEvent): void {
    kernel.note(
      `event ${event.type}${"job" in event ? ` ${event.job}` : ""}${"run" in event ? ` ${event.run}` : ""}`,
    )
    // A database that is away is under test here. Any other error is a mistake of the simulation.
    const error = "error" in event && event.type === "loop.failed" ? event.error : undefined
    if (error === undefined) return
    kernel.note(`loop failed: ${String(error)}`)
    if (isUnexpected(error)) onTrouble(`a loop failed: ${describe(error)}`)
  }

  /** Lets time pass until the condition holds, within a limit. */
  async function until(isSo: () => boolean, withinUs: number, otherwise: () => string): Promise<void> {
    const limitUs = kernel.nowUs() + withinUs
    let isDone = false
    const look = () => {
      isDone = server.isIdle() && isSo()
      if (!isDone) kernel.after(LOOK_EVERY_US, look)
    }
    look()
    await kernel.run(() => isDone || kernel.nowUs() > limitUs)
    if (isDone) return
    kernel.note(`OVERDUE ${otherwise()}`)
    overdue.push(otherwise())
  }

  async function run(): Promise<void> {
    nemesis.unleash()
    observer.watch()
    processes.forEach((process, index) => {
      if (plan.latecomerUs === undefined || index > 0) process.start()
      else kernel.after(plan.latecomerUs, () => process.start())
    })
    await passUntil(plan.faultyUs)
    kernel.note("everything heals")
    isOver = true
    network = PERFECT
    cutUntilUs.clear()
    nemesis.heal()
    const withinUs = RECOVER_US + nemesis.setBackUs()
    await until(
      () =>
        clients.busy.size === 0 ||
        [...clients.busy].every((each) => !(each as { life: Life }).life.isAlive()),
      withinUs,
      () => "clients are still waiting for answers",
    )
    await kernel.run(() => strays === 0)
    resumeAll()
    pen("healed", {})
    await settleSchedules(withinUs)
    // In the longest line they may have to run one by one, with their retries.
    const turnUs = plan.attempts * (plan.handlerMs + LONGEST_WAIT_MS) * 1_000
    await kernel.run(server.isIdle)
    await until(
      () => left() === 0,
      withinUs + longestLine() * turnUs,
      () => `not everything ended: ${leftover()}`,
    )
    if (plan.bulk) await settleBulk(await anyoneAtWork(withinUs), { until, withinUs, onTrouble })
    if (plan.peace) await haveItPeaceful()
    observer.stop()
    isFollowed = false
    await readToTheEnd()
    nemesis.end()
    for (const process of processes) process.stop(1_000)
    await until(
      () => processes.every((process) => !process.isAlive()),
      STOP_US,
      () => "a process does not stop",
    )
    for (const process of processes) process.crash("the end")
  }

  /** All schedules have to move on by themselves. Then they are ended. */
  async function settleSchedules(withinUs: number): Promise<void> {
    if (plan.schedules === 0) return
    await kernel.run(server.isIdle)
    const before = standings()
    const still = () => standingStill(before, standings())
    await until(
      () => still().length === 0,
      withinUs,
      () => `schedules stand still: ${still().join(", ")}`,
    )
    const life = await anyoneAtWork(withinUs)
    if (!life) return
    let isEnded = false
    void endSchedules(plan, life).then(
      () => (isEnded = true),
      (error: unknown) => onTrouble(`a schedule cannot be paused: ${describe(error)}`),
    )
    await until(
      () => isEnded,
      withinUs,
      () => "schedules are not paused",
    )
  }

  /** A process that answers its clients; if only one works, it is the first. */
  const worker = (): SimProcess | undefined => processes.find(isAtWork)
  const isAtWork = (process: SimProcess) => process.isAlive() && !process.isStopping()

  /** Stopped processes are replaced, but for a moment there may be none. */
  async function anyoneAtWork(withinUs: number): Promise<Life | undefined> {
    await until(
      () => worker() !== undefined,
      withinUs,
      () => "no worker is alive",
    )
    return worker()?.life()
  }

  async function haveItPeaceful(): Promise<void> {
    const awakeUs = processes.map((process) => process.pausedUntilUs())
    const heardUs = [silentUs + SILENCE_US, unheardUs + DEAFNESS_US, plan.faultyUs + REDIAL_US]
    await passUntil(Math.max(...heardUs, ...awakeUs))
    const life = await anyoneAtWork(RECOVER_US)
    const process = worker()
    if (process && life) await livePeacefully(peace, process, life)
  }

  async function readToTheEnd(): Promise<void> {
    const life = await anyoneAtWork(RECOVER_US)
    if (!life) return
    let isRead = false
    const onRead = () => {
      isRead = true
    }
    const onFailure = (error: unknown) => onTrouble(`history cannot be read: ${describe(error)}`)
    void readAllRuns(life, pen).then(onRead, onFailure)
    await until(
      () => isRead,
      STOP_US,
      () => "history is not read",
    )
  }

  const passUntil = (us: number) => kernel.run(() => kernel.nowUs() > us)

  /** A client that died between a pause and its resume has left it paused, and so has a late pause. */
  function resumeAll(): void {
    ground.wire.send({ text: `delete from "${ground.schema}".pauses` })
  }

  return { run, history: recorder.history, faults, overdue }
}
