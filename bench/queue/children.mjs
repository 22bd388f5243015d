/** Starts the child processes, one measurement each, and bounds the time they take. */
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { CHILD_MS } from "./sizes.mjs"

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url))

/** Measures in a new process. `task` is { measure, contender, url, settings, profile? }. */
export async function measureInChild(task) {
  return task.measure === "latencyOther" ? measureInTwo(task) : start(task).result
}

/** One child executes, another enqueues. */
async function measureInTwo(task) {
  const receiver = start({ ...task, measure: "latencyReceive" })
  // Whichever fails first says why.
  await Promise.race([receiver.ready, receiver.result])
  const sender = start({ ...task, measure: "latencySend" })
  const [result] = await Promise.all([receiver.result, sender.result])
  return result
}

function start(task) {
  // graphile-worker reads this when it is loaded: no line in the log for each job.
  const child = fork(CHILD, { env: { ...process.env, NO_LOG_SUCCESS: "1" } })
  const timer = setTimeout(() => child.kill("SIGKILL"), CHILD_MS)
  const who = `${task.contender}, ${task.measure}`
  let said = {}
  let isReady
  const ready = new Promise((resolve) => {
    isReady = resolve
  })
  child.on("message", (message) => {
    said = { ...said, ...message }
    if (message.ready) isReady()
  })
  // Not before it has ended: until then it may hold connections to a database that is about to go.
  const result = new Promise((resolve, reject) => {
    child.once("exit", (code, signal) => {
      clearTimeout(timer)
      if (said.result && code === 0) resolve(said.result)
      else reject(new Error(`${who}: ${said.failure ?? `ended without a result (${signal ?? code})`}`))
    })
  })
  child.send(task)
  return { ready, result }
}
