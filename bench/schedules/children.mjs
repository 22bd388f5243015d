/** Real processes that schedule, each asked one thing at a time, and ended however it goes. */
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { CHILD_MS } from "./sizes.mjs"

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url))

/** Lends `count` processes that are at work. `ask` puts the same question to all of them. */
export async function withSchedulers({ url, count = 1, slots = 0 }, use) {
  const children = Array.from({ length: count }, startChild)
  const ask = (task) => Promise.all(children.map((child) => child.ask(task)))
  try {
    await ask({ ask: "start", url, slots })
    return await use(ask)
  } finally {
    await Promise.all(children.map((child) => child.end()))
  }
}

function startChild() {
  const child = fork(CHILD)
  const timer = setTimeout(() => child.kill("SIGKILL"), CHILD_MS)
  let onMessage = () => {}
  child.on("message", (message) => onMessage(message))
  const exited = new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      clearTimeout(timer)
      onMessage({ failure: `ended (${signal ?? code})` })
      resolve()
    })
  })
  return {
    ask: (task) =>
      new Promise((resolve, reject) => {
        onMessage = ({ answer, failure }) => {
          if (failure === undefined) resolve(answer)
          else reject(new Error(`${task.ask}: ${failure}`))
        }
        child.send(task)
      }),
    /** Not before it is gone: until then it may hold connections to a database that is about to go. */
    end: () => {
      if (child.connected) child.disconnect()
      return exited
    },
  }
}
