/** The adapter's processes: started, killed and started again, and every line they say, with when it was said. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { NODE } from "../tools/peers.mjs"

const ADAPTER = fileURLToPath(new URL("adapter.mjs", import.meta.url))
/** After SIGTERM; the protocol allows for five seconds. */
const GRACE_MS = 10_000

export function createReplicas(env) {
  const running = new Map()
  const records = []
  const unwanted = []
  const heard = (line) => line.trim() !== "" && unwanted.push(line)

  function start(instance) {
    const child = spawn(NODE, [ADAPTER], {
      env: {
        ...process.env,
        NODE_NO_WARNINGS: "1",
        NO_LOG_SUCCESS: "1",
        ...env,
        BENCH_INSTANCE_ID: String(instance),
      },
      stdio: ["ignore", "pipe", "pipe"],
    })
    const exited = once(child, "exit")
    running.set(instance, { child, exited })
    createInterface({ input: child.stdout }).on("line", (line) => {
      try {
        records.push({ atMs: performance.now(), ...JSON.parse(line) })
      } catch {
        // Not of the protocol: a library that prints.
        heard(line)
      }
    })
    createInterface({ input: child.stderr }).on("line", heard)
    exited.then(([code]) => {
      if (running.get(instance)?.child === child && code !== 0)
        unwanted.push(`process ${instance} ended with ${code}`)
    })
  }

  return {
    start,
    records,
    /** Lines on stderr, and lines that do not keep to the protocol. */
    unwanted,
    /** Those that are still there; a system that did not survive is not among them. */
    alive: () =>
      [...running.values()].filter(({ child }) => child.exitCode === null && child.signalCode === null),
    kill: async (instance) => {
      const { child, exited } = running.get(instance)
      running.delete(instance)
      child.kill("SIGKILL")
      await exited
    },
    stop: async () => {
      await Promise.all(
        [...running.values()].map(async ({ child, exited }) => {
          const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS)
          child.kill("SIGTERM")
          if (child.exitCode === null && child.signalCode === null) await exited
          clearTimeout(timer)
        }),
      )
    },
  }
}
