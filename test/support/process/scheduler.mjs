// A process with a scheduler that ticks on demand. It dies at given points, and can be suspended in the middle of a
// tick, as a machine is.
import { closeSync, existsSync, openSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { createScheduler } from "../../../dist/engine/schedules/scheduler.js"
import { createEvents } from "../../../dist/observe/create-events.js"
import { createSystemHost } from "../../../dist/runtime/system.js"
import { openServer } from "../../../dist/store/server/server.js"

const { database: url, schema, folder } = JSON.parse(process.argv[2])

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const die = () => process.kill(process.pid, "SIGKILL")
const host = createSystemHost()
const { signal } = new AbortController()

let deaths = []
let sleep
let wake

/** Deaths are met in their order, each by one of all processes: by the first that creates its file. */
function isToDieAt(point) {
  for (const death of deaths) {
    const path = join(folder, death.id)
    if (existsSync(path)) continue
    if (death.point !== point) return false
    try {
      closeSync(openSync(path, "wx"))
      return true
    } catch (error) {
      if (error.code !== "EEXIST") throw error
    }
  }
  return false
}

async function crashPoint(name) {
  if (isToDieAt(name)) die()
  if (name !== "schedule.read" || sleep === undefined) return
  const woken = new Promise((resolve) => {
    wake = resolve
  })
  say({ type: "asleep", number: sleep })
  sleep = undefined
  await woken
}

/** Adds the points inside the database's calls: the answer has come, or the call is sent and has no answer yet. */
function deadly(database) {
  const transaction = (body, options) =>
    database.transaction(async (tx) => {
      let isWritten = false
      const run = async (statement, params) => {
        const answer = tx.run(statement, params)
        if (statement.name === "schedules/take" && (await answer).length > 0 && isToDieAt("taken")) die()
        if (statement.name === "schedules/fire") {
          isWritten = true
          // Once it is sent, which it is as soon as this turn of the loop is over.
          if (isToDieAt("writing")) setImmediate(die)
        }
        return answer
      }
      const result = await body({ ...tx, run })
      if (isWritten && isToDieAt("committing")) setImmediate(die)
      return result
    }, options)
  return { ...database, transaction }
}

const database = deadly(openServer(host, { url, schema, workConnections: 1 }))
const scheduler = createScheduler({
  runtime: { ...host, crashPoint, database },
  events: createEvents((error) => say({ type: "failed", error: String(error) })),
  onReady: () => {},
  onParked: () => {},
  onDisplaced: () => {},
})

const commands = {
  tick: async (told) => {
    deaths = told.deaths ?? []
    sleep = told.sleep
    return scheduler.tick(signal)
  },
  wake: async () => wake(),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { call, seq, ...args } = JSON.parse(line)
  commands[call](args).then(
    (value) => say({ type: "answer", seq, value }),
    (error) => say({ type: "answer", seq, error: { code: error.code, message: error.message } }),
  )
}
