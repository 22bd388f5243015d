/**
 * Fills a database with the runs of a busy company, to look at Carillon under its load:
 * `npm run scale:seed -- --database postgres://... [--ended 10000000] [--live 1000000]`. Without a URL the embedded
 * server of this folder is filled. The database must have no runs yet.
 */
import { parseArgs } from "node:util"
import { createCarillon } from "../../dist/index.js"
import { connect } from "../tools/driver.mjs"
import { thousands } from "../tools/measure.mjs"
import { fillScale } from "./fill.mjs"

const { values } = parseArgs({
  options: {
    database: { type: "string" },
    ended: { type: "string", default: "10000000" },
    live: { type: "string", default: "1000000" },
  },
})
const ended = countOf("ended")
const live = countOf("live")

const carillon = createCarillon({ ...(values.database && { database: values.database }) })
await carillon.migrate()
const client = await connect(values.database ?? carillon.url())
try {
  const { rows } = await client.query(
    "select exists (select from carillon.runs) or exists (select from carillon.attempts) as used",
  )
  if (rows[0].used)
    throw new Error(
      "This database has runs already. Take an empty one: the seed does not mix with real runs.",
    )
  let written = 0
  const onChunk = (count) => {
    written += count
    console.log(`${thousands(written)} of ${thousands(ended + live)} runs`)
  }
  await fillScale(client, { ended, live, onChunk })
} finally {
  await client.end()
  await carillon.stop()
}

function countOf(name) {
  const count = Number(values[name])
  if (Number.isSafeInteger(count) && count >= 0) return count
  console.error(`--${name} takes a whole number, such as 10000000. It is ${JSON.stringify(values[name])}.`)
  process.exit(2)
}
