import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, afterEach, describe, expect, it, vi } from "vitest"
import * as given from "../support/embedded/fixture.ts"
import { host, one, openDatabase, sleep } from "../support/faulty-database.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { execute, rowsOf, untilRows } from "../support/sql.ts"

afterEach(given.cleanUp)
afterAll(given.removePrepared)

// An unhandled rejection or an exit of the process would fail the whole run; the tests need not look for them.
describe("a server that goes away", () => {
  it("and comes back interrupts only calls in flight; listening resumes, with a hint of a gap", async () => {
    const dataDir = await given.newDataFolder()
    const first = await given.start({ dataDir })
    const database = openDatabase(first.url)
    const missed = createGate()
    await database.listen("news", (payload) => payload === "" && missed.open())
    const interrupted = expect(database.run(sleep, {})).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" })
    await untilRows(database, "select 1 from pg_stat_activity where wait_event = 'PgSleep'")
    await first.stop()
    await interrupted
    const during = Array.from({ length: 20 }, () => database.run(one, {}))
    await given.start({ dataDir })
    for (const rows of await Promise.all(during)) expect(rows).toEqual([{ one: 1 }])
    await missed.opened
  })

  it("for idle sessions only is not noticed by calls, and listening is restored", async () => {
    const { url } = await given.start({ dataDir: await given.newDataFolder() })
    const database = openDatabase(url)
    const missed = createGate()
    await database.listen("news", (payload) => payload === "" && missed.open())
    await Promise.all(Array.from({ length: 8 }, () => database.run(one, {})))
    const killer = openDatabase(url, { workConnections: 1 })
    const killed = await rowsOf(
      killer,
      `select pid, pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'carillon' and pid <> pg_backend_pid()`,
    )
    expect(killed.length).toBeGreaterThan(2)
    const left = `select 1 from pg_stat_activity where pid in (${killed.map((row) => row["pid"])})`
    await vi.waitUntil(async () => (await rowsOf(killer, left)).length === 0)
    // The server's last messages have arrived; after one more round trip they have also been read.
    await killer.run(one, {})
    expect(await database.run(one, {})).toEqual([{ one: 1 }])
    await missed.opened
  })
})

describe("an error that time does not heal", () => {
  /** Fails a test in which a call rests before it gives up. */
  const impatient = {
    ...host,
    sleep: () => Promise.reject(new Error("rested, although that is of no use")),
  }

  it.each([
    ["a database that does not exist", (url: string) => url.replace("/carillon?", "/nowhere?"), "3D000"],
    ["a user that does not exist", (url: string) => url.replace("carillon@", "nobody@"), "28000"],
    ["a wrong password", (url: string) => url.replace("carillon@", "ada:wrong@"), "28P01"],
  ])("is reported at once: %s", async (_, wrong, sqlState) => {
    const { url, dataDir } = await given.start({ dataDir: await given.newDataFolder() })
    await requirePassword(url, dataDir)
    await expect(openDatabase(wrong(url), { host: impatient }).run(one, {})).rejects.toMatchObject({
      code: "DATABASE_UNAVAILABLE",
      sqlState,
    })
  })

  /** Lets ada in with her password only. */
  async function requirePassword(url: string, dataDir: string): Promise<void> {
    const rules = join(dataDir, "postgres/pg_hba.conf")
    await writeFile(rules, `local all ada scram-sha-256\n${await readFile(rules, "utf8")}`)
    const database = openDatabase(url)
    await execute(database, "drop role if exists ada; create role ada login password 'right'")
    await rowsOf(database, "select pg_reload_conf()")
    const right = openDatabase(url.replace("carillon@", "ada:right@"))
    expect(await right.run(one, {})).toEqual([{ one: 1 }])
  }
})
