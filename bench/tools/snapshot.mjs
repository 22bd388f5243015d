/** A transaction that holds a snapshot: as long as it does, PostgreSQL cannot clean up what dies. */
import { pg } from "./driver.mjs"

/** Resolves when it is held, with a function that lets go of it. */
export async function holdSnapshot(url) {
  const client = new pg.Client({ connectionString: url })
  // It may end with its database, when something else has failed.
  client.on("error", () => {})
  await client.connect()
  // The first statement takes the snapshot.
  await client.query("begin isolation level repeatable read")
  await client.query("select count(*) from pg_class")
  return () => client.end()
}

/** Holds it while `use` is at work. */
export async function withSnapshot(url, use) {
  const release = await holdSnapshot(url)
  try {
    return await use()
  } finally {
    await release()
  }
}
