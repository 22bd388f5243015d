/**
 * A process that owns an embedded server: `node own-server.mjs <options as JSON>`.
 *
 * Prints one line of JSON, `{ url, dataDir }` or `{ code, message }`, then stops the server when its input ends. With
 * `leave` the process ends by itself instead, and stops nothing.
 */
import { createSystemHost } from "../../../dist/runtime/system.js"
import { startEmbedded } from "../../../dist/store/embedded/launch.js"

const { leave, ...options } = JSON.parse(process.argv[2] ?? "{}")
// Ctrl-C in a terminal reaches this process too, which like Carillon decides itself when to stop.
process.on("SIGINT", () => {})

try {
  const server = await startEmbedded(createSystemHost(), options)
  console.log(JSON.stringify({ url: server.url, dataDir: server.dataDir }))
  if (!leave) process.stdin.resume().on("end", () => server.stop())
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: error.message }))
}
