// The process of worker.mjs, on PGlite on disk. It can be killed at a call to the file system, and prints how many it
// made.
import { killAtCall } from "./kill-at-call.mjs"

const { killAt, ...options } = JSON.parse(process.argv[2])
process.argv[2] = JSON.stringify({ database: "pglite", ...options })
const calls = killAtCall(killAt)
process.on("exit", () => process.stdout.write(`${JSON.stringify({ type: "calls", count: calls() })}\n`))
await import("./worker.mjs")
