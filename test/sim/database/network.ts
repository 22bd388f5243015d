/**
 * The network between a simulated process and the simulated server: connections on which anything may go wrong.
 *
 * They stand in for those over a socket; everything above them is the real thing: the pool, the transactions, the
 * repetitions, the listener.
 */
import { DatabaseError } from "../../../src/errors.ts"
import type { Host } from "../../../src/runtime/host.ts"
import { deadlineError, translateError } from "../../../src/store/database-error.ts"
import type { Answer, Command } from "../../../src/store/server/command.ts"
import type { Connection, Dial } from "../../../src/store/server/connection.ts"
import type { Kernel, Owner } from "../kernel/kernel.ts"
import { BUSY_STATES, drawFate, type Fate, type Network } from "./faults.ts"
import type { Reply, Command as WireCommand } from "./pglite-protocol.ts"
import { type Outcome, restartError, type Server, type Session, serverError } from "./server.ts"

/** The way from one process to the server. */
export interface Link {
  readonly network: () => Network
  /** Until then nothing gets through. */
  readonly cutUntilUs: () => number
  /** Counts what was done to it. */
  readonly count: (fault: string) => void
  /** Hears of what is thought lost and still on its way, and of its end. */
  readonly stray: (change: 1 | -1) => void
  /** Hears of everything before it is sent. */
  readonly onSend: (commands: readonly Command[]) => void
}

export interface NetworkParts {
  readonly kernel: Kernel
  readonly server: Server
  readonly owner: Owner
  readonly name: string
  readonly link: Link
}

type Span = readonly [low: number, high: number]

/** How much later than its time something is done that was thought lost: after any lease, at worst. */
const LATE_US: Span = [50_000, 12_000_000]
/** The same for what holds up everything else. */
const LATE_INSIDE_US: Span = [10_000, 1_000_000]
const SLOW_US: Span = [20_000, 4_000_000]
const SLOW_INSIDE_US: Span = [5_000, 200_000]
/** What takes effect until a moment of the database's clock, after which it is sent again: so much later. */
const SENT_AGAIN_US = 5_000_000
const GOES_BY_THE_CLOCK = /^(runs|schedules)\/insert/
/** What the driver says when the connection is gone. */
const LOST = () => new Error("Connection terminated unexpectedly")
/** The server has ended the session, or has lost what was prepared in it. */
const SPENT = /^(08|57P|25P0[34]|26000|42P05)/

/** Something that is thought lost. */
interface Stray {
  /** Whether it does not count any more when it arrives. */
  readonly isVoid: () => boolean
  /** It never arrived. */
  readonly onGone: () => void
}

export interface Dialer {
  /** In place of `connect` of src/store/server/connection.ts. */
  readonly connect: (host: Host, dial: Dial) => Promise<Connection>
  /** Breaks every connection of the process. */
  readonly destroyAll: () => void
}

/** Opens connections of one process. */
export function createDialer(parts: NetworkParts): Dialer {
  const { kernel, owner, link } = parts
  const open = new Set<Connection>()

  const connect: Dialer["connect"] = (host, { deadlineAtMs, signal, plan }) =>
    new Promise((resolve, reject) => {
      const fail = (message: string) => {
        timer.cancel()
        reject(new Error(message))
      }
      const timer = host.after(deadlineAtMs - host.monotonicMs(), () => {
        signal.removeEventListener("abort", giveUp)
        reject(new Error("no answer from the server in time"))
      })
      const giveUp = () => fail("closed while connecting")
      if (signal.aborted) return giveUp()
      signal.addEventListener("abort", giveUp, { once: true })
      const isCut = link.cutUntilUs() > kernel.nowUs()
      // One that is cut off is refused at once, or hears nothing.
      if (isCut && kernel.chance.happens(0.5)) return link.count("silent dial")
      kernel.after(
        latencyUs(parts),
        () => {
          signal.removeEventListener("abort", giveUp)
          if (signal.aborted) return
          if (isCut) return fail("connect ECONNREFUSED")
          timer.cancel()
          const connection = openConnection(parts, host, plan)
          open.add(connection)
          connection.onEnd(() => open.delete(connection))
          resolve(connection)
        },
        owner,
      )
    })

  return {
    connect,
    destroyAll: () => {
      for (const connection of open) connection.destroy()
      open.clear()
    },
  }
}

function latencyUs({ kernel, link }: NetworkParts): number {
  const [low, high] = link.network().latencyUs
  return kernel.chance.between(low, high)
}

function openConnection(parts: NetworkParts, host: Host, plan: Connection["plan"]): Connection {
  const { kernel, server, owner, name, link } = parts
  const { chance } = kernel
  const notificationHandlers = new Set<(channel: string, payload: string) => void>()
  const endHandlers = new Set<() => void>()
  let usable = true
  const onNotification = (channel: string, payload: string) => {
    const { lost, twice, late } = link.network().notifications
    if (chance.happens(lost)) return link.count("notification lost")
    const times = chance.happens(twice) ? 2 : 1
    if (times === 2) link.count("notification twice")
    for (let time = 0; time < times; time += 1) {
      const isLate = chance.happens(late)
      if (isLate) link.count("notification late")
      const us = isLate ? chance.skewed(...SLOW_US) : latencyUs(parts)
      kernel.after(us, () => hear(channel, payload), owner)
    }
  }
  const session: Session = server.connect({
    onNotification,
    // A process that is cut off hears nothing, and finds out at its next message.
    onEnded: () => {
      if (link.cutUntilUs() > kernel.nowUs()) link.count("end unheard")
      else kernel.after(latencyUs(parts), destroy, owner)
    },
  })

  function hear(channel: string, payload: string): void {
    if (!usable) return
    for (const handler of notificationHandlers) handler(channel, payload)
  }

  /** The calls that wait for an answer: they fail when the connection is gone. */
  const waiting = new Set<() => void>()

  /** What is on its way to the server still gets there when the connection is gone. */
  let underWay = 0
  let isStray = false
  const endSession = () => {
    if (usable || underWay > 0) return
    session.end()
    if (isStray) link.stray(-1)
    isStray = false
  }

  /** When the last of what was sent arrives: nothing overtakes it on the way. */
  let arrivesAtUs = 0
  /** What has arrived and is not done: one after the other. */
  const inTurn: (() => void)[] = []
  const takeTurn = (work: () => void) => {
    inTurn.push(work)
    if (inTurn.length === 1) work()
  }
  const endTurn = () => {
    inTurn.shift()
    inTurn[0]?.()
  }

  /** The connection is gone. The server learns of it a little later. */
  function destroy(): void {
    if (!usable) return
    usable = false
    isStray = underWay > 0
    if (isStray) link.stray(1)
    kernel.after(latencyUs(parts), endSession)
    const tellAll = () => {
      for (const giveUp of [...waiting]) giveUp()
      for (const handler of endHandlers) handler()
    }
    kernel.after(0, tellAll, owner)
  }

  /** One round trip. Resolves with what the server said of each command. */
  function exchange(label: string, commands: readonly WireCommand[], deadlineAtMs: number): Promise<Reply[]> {
    return new Promise((resolve, reject) => {
      let isOver = false
      const end = (how: () => void) => {
        if (isOver) return
        isOver = true
        waiting.delete(giveUp)
        timer.cancel()
        how()
      }
      const giveUp = () => end(() => reject(translateError(LOST(), label)))
      waiting.add(giveUp)
      const timer = host.after(deadlineAtMs - host.monotonicMs(), () =>
        end(() => {
          kernel.note(`${name} ${label}: no answer`)
          destroy()
          reject(deadlineError(label))
        }),
      )
      const answer = (us: number, said: string, how: () => void) =>
        kernel.after(
          us,
          () =>
            end(() => {
              kernel.note(`${name} ${label}: ${said}`)
              how()
            }),
          owner,
        )
      const breakDown = (us: number, cause: Error) =>
        answer(us, `broken (${cause.message})`, () => {
          destroy()
          reject(translateError(cause, label))
        })
      const isInside = session.isInside()
      const perform = (us: number, then: (outcomes: readonly Outcome[]) => void, stray?: Stray) => {
        underWay += 1
        const arrive = (onDone: () => void) => {
          // What a dead process had sent is there or is not.
          if ((!owner.isAlive() && chance.happens(0.5)) || stray?.isVoid()) {
            underWay -= 1
            stray?.onGone()
            endSession()
            return onDone()
          }
          session.run(commands, (outcomes) => {
            underWay -= 1
            kernel.note(`${name} ${label}: done, ${outcomes.map(describe).join(" ")}`)
            then(outcomes)
            endSession()
            onDone()
          })
        }
        if (stray) kernel.after(us, () => arrive(() => {}))
        else {
          arrivesAtUs = Math.max(kernel.nowUs() + us, arrivesAtUs + 1)
          kernel.after(arrivesAtUs - kernel.nowUs(), () => takeTurn(() => arrive(endTurn)))
        }
      }
      const told = (outcomes: readonly Outcome[]) => {
        const failed = outcomes.find(
          (outcome): outcome is Extract<Outcome, Error> => outcome instanceof Error,
        )
        if (!failed) {
          if (chance.happens(link.network().idleBreaks))
            kernel.after(chance.skewed(1_000, 5_000_000), breakIdle)
          return answer(latencyUs(parts), "told", () => resolve(outcomes as Reply[]))
        }
        const error = translateError(failed, label)
        return answer(latencyUs(parts), `told ${error.code}`, () => {
          if (SPENT.test(error.sqlState ?? "")) destroy()
          reject(error)
        })
      }
      const refuse = (code: string) => told([serverError(code, "as the simulation will have it")])
      const performLate = () => {
        link.stray(1)
        const onOver = () => link.stray(-1)
        const [setBacks, sentUs] = [server.setBacks(), kernel.nowUs()]
        perform(chance.skewed(...(isInside ? LATE_INSIDE_US : LATE_US)), onOver, {
          onGone: onOver,
          // Nothing is promised of what goes by a clock that was set back while it was on its way.
          isVoid: () =>
            GOES_BY_THE_CLOCK.test(label) &&
            server.setBacks() > setBacks &&
            kernel.nowUs() > sentUs + SENT_AGAIN_US,
        })
      }
      const fate = fateOf()
      if (fate !== "fine") {
        link.count(fate)
        kernel.note(`${name} ${label}: ${fate}`)
      }
      switch (fate) {
        case "fine":
          return perform(latencyUs(parts), told)
        case "slow":
          return perform(chance.skewed(...(isInside ? SLOW_INSIDE_US : SLOW_US)), told)
        case "unsent":
          destroy()
          return end(() => reject(unsent(label)))
        case "lost-before":
          return breakDown(latencyUs(parts), LOST())
        case "lost-after":
          return perform(latencyUs(parts), () => breakDown(latencyUs(parts), LOST()))
        case "lost-late":
          performLate()
          return breakDown(latencyUs(parts), LOST())
        case "ended-before":
          return kernel.after(latencyUs(parts), () => {
            session.end()
            breakDown(latencyUs(parts), restartError())
          })
        case "ended-after":
          return perform(latencyUs(parts), () => {
            session.end()
            breakDown(latencyUs(parts), restartError())
          })
        case "silent-never":
          return
        case "silent-done":
          return perform(latencyUs(parts), () => {})
        case "silent-late":
          return performLate()
        case "busy":
          return kernel.after(latencyUs(parts), () => refuse(chance.pick(BUSY_STATES)))
        case "full":
          return kernel.after(latencyUs(parts), () => refuse("53100"))
      }
    })
  }

  function breakIdle(): void {
    if (!usable || !owner.isAlive()) return
    link.count("idle connection broken")
    destroy()
  }

  function fateOf(): Fate {
    if (link.cutUntilUs() <= kernel.nowUs()) return drawFate(link.network(), chance)
    return chance.pick(["silent-never", "silent-never", "silent-done", "lost-before"])
  }

  return {
    direct: true,
    plan,
    version: 170_000,
    usable: () => usable,
    send: async (commands, deadlineAtMs) => {
      const label = commands.at(-1)?.label ?? "?"
      if (!usable) throw unsent(label)
      link.onSend(commands)
      const replies = await exchange(label, commands.map(wireCommand), deadlineAtMs)
      return replies.map(answerOf)
    },
    // Here each is a write of its own.
    inOneWrite: (send) => send(),
    query: async (text, values, deadlineAtMs) => {
      const label = "a statement of the handler"
      if (!usable) throw unsent(label)
      const command = { text, values: values.map((value) => (value === null ? null : String(value))) }
      const [reply] = await exchange(label, [command], deadlineAtMs)
      const rows = reply?.rows ?? []
      const columns = reply?.columns ?? []
      return {
        rows: rows.map((row) => Object.fromEntries(columns.map((column, at) => [column.name, row[at]]))),
        rowCount: Number(/\d+$/.exec(reply?.tag ?? "")?.[0] ?? 0),
      }
    },
    isOutside: () => !session.isInside(),
    onNotification: (handler) => {
      notificationHandlers.add(handler)
    },
    onEnd: (handler) => {
      endHandlers.add(handler)
    },
    close: async () => destroy(),
    destroy,
  }
}

/** Timeouts of the server would be counted in real time. What they are for is done by the simulated server. */
const TIMEOUTS = /set local (?:idle_in_transaction_session_timeout|lock_timeout) = \d+(?:; )?/g

function wireCommand({ label, text, values, prepare }: Command): WireCommand {
  if (prepare && values) return { text, values, name: label }
  return { text: text.replaceAll(TIMEOUTS, ""), ...(values && { values }) }
}

function answerOf({ columns, rows, tag }: Reply): Answer {
  return { command: tag.split(" ")[0] ?? "", columns: columns.map((column) => column.name), rows }
}

function unsent(statement: string): DatabaseError {
  const message = `${statement}: the connection had ended before this was sent.`
  return new DatabaseError("DATABASE_UNAVAILABLE", message, { statement })
}

function describe(outcome: Outcome): string {
  return outcome instanceof Error ? `error ${outcome.code}` : `${outcome.tag}`
}
