/**
 * Child processes that are asked one thing at a time, bounded in time and ended however it goes. So the heap, timers
 * and compiled code of one contender are not in another's figures.
 */
import { fork } from "node:child_process"

/**
 * `file` calls `answerTo`. `onEvent` gets what the process says without being asked. `node` is the program that runs
 * it.
 */
export function startProcess(file, { name = "process", node, env = {}, mostMs, onEvent = () => {} } = {}) {
  const child = fork(file, {
    ...(node && { execPath: node }),
    env: { ...process.env, ...env },
    serialization: "advanced",
  })
  const timer = setTimeout(() => child.kill("SIGKILL"), mostMs)
  let waiting
  const settle = (how, value) => {
    const { [how]: done } = waiting ?? {}
    waiting = undefined
    done?.(value)
  }
  child.on("message", ({ event, answer, failure }) => {
    if (event !== undefined) onEvent(event)
    else if (failure === undefined) settle("resolve", answer)
    else settle("reject", new Error(`${name}: ${failure}`))
  })
  let hasEnded = false
  const exited = new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      hasEnded = true
      clearTimeout(timer)
      settle("reject", new Error(`${name}: ended (${signal ?? code})`))
      resolve()
    })
  })
  return {
    name,
    exited,
    ask: (question, task = {}) =>
      new Promise((resolve, reject) => {
        if (hasEnded) return reject(new Error(`${name}: has ended before "${question}"`))
        waiting = { resolve, reject: (error) => reject(new Error(`${question}: ${error.message}`)) }
        child.send({ question, task })
      }),
    kill: () => child.kill("SIGKILL"),
    /** Not before it is gone: until then it may hold connections to a database that is about to go. */
    end: () => {
      if (child.connected) child.disconnect()
      return exited
    },
  }
}

/** Waits for what these processes are to bring about; in vain when one of them ends. */
export async function unlessEnded(processes, waiting) {
  const ended = processes.map(({ name, exited }) =>
    exited.then(() => {
      throw new Error(`${name}: ended meanwhile`)
    }),
  )
  return Promise.race([waiting, ...ended])
}

/** In the child: answers what it is asked, by the functions of these names. */
export function answerTo(answers) {
  // Also when the parent is gone: no process waits for the result any more.
  process.once("disconnect", () => process.exit())
  process.on("message", async ({ question, task }) => {
    try {
      process.send({ answer: (await answers[question](task)) ?? null })
    } catch (error) {
      process.send({ failure: error instanceof Error ? error.stack : String(error) })
    }
  })
}

/** In the child: says something without being asked. */
export function tell(event) {
  process.send({ event })
}

/** A clock that all processes of a machine share. */
export function nowMs() {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}
