/** The stage of one row: a server, the processes on it, and what a fault can do to them. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as moment } from "node:timers/promises"
import { type Clock, createClock } from "./clock.ts"
import type { Stage } from "./fault.ts"
import { type Member, type MemberOptions, type Role, startMember } from "./member.ts"
import { type Network, openNetwork } from "./network.ts"
import { createTalk, type Talk } from "./operator-session.ts"
import type { Chance } from "./seeded-random.ts"
import { openServer, type Server } from "./server.ts"

export type { Member, MemberOptions } from "./member.ts"

export interface World {
  readonly folder: string
  readonly schema: string
  readonly server: Server
  /** The server's, where the stage has one that can be set. */
  readonly clock: Clock | undefined
  /** An operator's sessions, past every proxy. */
  readonly talk: Talk
  /** Those that live, in the order of their start. */
  readonly workers: () => Member[]
  readonly producers: () => Member[]
  /** Every process that ever lived. */
  readonly everybody: () => readonly Member[]
  /** Starts one more; a worker works, a producer produces when the others do. */
  readonly add: (role: Role, options?: MemberOptions) => Promise<Member>
  /** Kills it, which is then no violation. Resolves when it is dead. */
  readonly kill: (member: Member) => Promise<void>
  /** Its end is no violation any more. */
  readonly release: (member: Member) => void
  /** Puts another in its place, with the same options. */
  readonly replace: (member: Member) => Promise<Member>
  /** Counts a blow, for the table and as the proof that it happened. */
  readonly struck: (what: string, by?: number) => void
  readonly strikes: ReadonlyMap<string, number>
  /** Something that must not be. */
  readonly complain: (sentence: string) => void
  readonly complaints: readonly string[]
  /** How often all processes together said something of this type, as in "lease.lost". */
  readonly heard: (type: string) => number
  /** Rests; shorter when the signal aborts. */
  readonly rest: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Looks until it is so; whether it came to be in time. */
  readonly until: (isSo: () => Promise<boolean> | boolean, withinMs: number) => Promise<boolean>
  /** Begins the load, or changes its rate. */
  readonly load: (rate: number) => Promise<void>
  readonly close: () => Promise<void>
}

const LEASE = "2s"
/** With two cores there is nothing to be gained from more. */
const PRODUCERS = 2
const LOOK_MS = 50

export async function openWorld(folder: string, stage: Stage, chance: Chance): Promise<World> {
  mkdirSync(join(folder, "history"), { recursive: true })
  const clock = stage.clock ? createClock(join(folder, "server-clock")) : undefined
  const asked = typeof stage.server === "function" ? stage.server(folder) : stage.server
  const server = await openServer(folder, { ...asked, env: { ...asked?.env, ...clock?.env } })
  const talk = createTalk(server.url)
  const schema = "carillon"
  const members: Member[] = []
  const networks: Network[] = []
  const doomed = new Set<Member>()
  const strikes = new Map<string, number>()
  const complaints: string[] = []
  const complain = (sentence: string) => complaints.push(sentence)
  const counts = { worker: 0, producer: 0 }
  let rate = 0

  const alive = (role: Role) => members.filter((member) => member.role === role && member.isUp())

  async function spawn(role: Role, options: MemberOptions): Promise<Member> {
    const network = stage.proxied ? await openNetwork(server.url) : undefined
    if (network) networks.push(network)
    counts[role] += 1
    const given = {
      database: network?.url ?? server.url,
      schema,
      // By a clock that is set, the times of a schedule at a moment are unknown.
      load: { seed: chance.between(1, 2 ** 31 - 1), steers: !stage.clock },
    }
    const facts = { name: `${role}-${counts[role]}`, role, folder, network, given }
    const member = startMember(facts, {
      lease: LEASE,
      ...(role === "worker" ? stage.worker : stage.producer),
      ...options,
    })
    members.push(member)
    void member.ended.then((how) => {
      const { mayDie, mayExit } = member.options
      if (doomed.has(member) || mayExit || (mayDie && how === "SIGKILL")) return
      complain(`${member.name} ended by itself: ${how}; see ${member.name}.err.`)
    })
    return member
  }

  async function begin(member: Member): Promise<void> {
    await member.call(member.role === "worker" ? "start" : "open")
    if (member.role === "producer" && rate > 0) await member.call("load", { rate })
  }

  const world: World = {
    folder,
    schema,
    server,
    clock,
    talk,
    workers: () => alive("worker"),
    producers: () => alive("producer"),
    everybody: () => members,
    add: async (role, options = {}) => {
      const member = await spawn(role, options)
      await begin(member)
      return member
    },
    kill: async (member) => {
      doomed.add(member)
      member.signal("SIGKILL")
      await member.ended
    },
    release: (member) => {
      doomed.add(member)
    },
    replace: (member) => world.add(member.role, member.options),
    struck: (what, by = 1) => strikes.set(what, (strikes.get(what) ?? 0) + by),
    strikes,
    complain,
    complaints,
    heard: (type) => members.reduce((sum, member) => sum + member.heard(type), 0),
    rest: async (ms, signal) => {
      await moment(ms, undefined, signal ? { signal } : {}).catch(() => {})
    },
    until: async (isSo, withinMs) => {
      for (const untilMs = performance.now() + withinMs; ; ) {
        if (await isSo()) return true
        if (performance.now() > untilMs) return false
        await moment(LOOK_MS)
      }
    },
    load: async (wanted) => {
      rate = wanted
      await Promise.all(alive("producer").map((member) => member.call("load", { rate })))
    },
    close: async () => {
      for (const member of members.filter((each) => each.isUp())) {
        doomed.add(member)
        member.signal("SIGKILL")
        await member.ended
      }
      await Promise.all(networks.map((network) => network.close()))
      await talk.close()
      await server.close()
    },
  }

  try {
    const roles = (role: Role, count: number) => Array.from({ length: count }, () => spawn(role, {}))
    const started = await Promise.all([
      ...roles("worker", stage.workers ?? 3),
      ...roles("producer", PRODUCERS),
    ])
    const [first, ...others] = started
    // It makes the schema, which the others would wait for.
    if (first) await begin(first)
    await talk.ask(`create table "${schema}".marks (mark text primary key, run uuid)`)
    await talk.ask(`create table "${schema}".finishes (run uuid, claim text)`)
    await Promise.all(others.map(begin))
    return world
  } catch (error) {
    await world.close()
    throw error
  }
}
