/** A database with so many schedules, none of them due. */
import { createCarillon } from "../../dist/index.js"
import { pg } from "../tools/driver.mjs"
import { thousands } from "../tools/measure.mjs"
import { fill } from "./fill.mjs"

export async function withSchedules(url, count, use) {
  const carillon = createCarillon({ database: url, logger: { debug() {}, info() {}, warn() {}, error() {} } })
  await carillon.migrate()
  await carillon.stop()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query("select pg_backend_pid() as pid")
    await fill(client, count)
    console.log(`\n${thousands(count)} schedules`)
    // Choosing those that come due takes a look at all of them.
    return await use({ client, pid: rows[0].pid, url, leadMs: 3_000 + count / 200 })
  } finally {
    await client.end()
  }
}
