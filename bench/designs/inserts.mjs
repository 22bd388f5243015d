/** What writing runs in bulk costs the server: as it is, by other ways, and what it is made of, one thing left out after the other. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { processUs } from "../tools/cpu.mjs"
import { INPUT, insertOf, SCHEMA } from "./alone.mjs"

const TABLE = `${SCHEMA}.runs`
const COLUMNS =
  "id, job, pool, priority, rank, stage, claims, enqueued_at, due_at, input, history, bury_when_lost"

/** `left`: what the table does without. Each of the last has no more than the one before it. */
export const INSERTS = {
  "as it is": { title: "one statement, with a list of ids and one of inputs" },
  copied: { title: "by `COPY`, from a file on the server", isCopied: true },
  "no checks": { title: "as it is, without checks of values", left: ["checks"] },
  "no other indexes": {
    title: "and without the partial indexes that no such run is in",
    left: ["checks", "others"],
  },
  "no queue": { title: "and without the index of what is queued", left: ["checks", "others", "queue"] },
  "no key": { title: "and without a primary key", left: ["checks", "others", "queue", "key"] },
  "no room": {
    title: "and without room on each page for what becomes of a run",
    left: ["checks", "others", "queue", "key", "room"],
  },
}

/** What takes it away. */
const WITHOUT = {
  checks: dropEach(
    `select format('alter table ${TABLE} drop constraint %I', conname) as sql from pg_constraint
     where conrelid = '${TABLE}'::regclass and contype = 'c'`,
  ),
  others: dropEach(
    `select format('drop index %s', indexrelid::regclass) as sql from pg_index
     where indrelid = '${TABLE}'::regclass and not indisprimary and indexrelid <> '${SCHEMA}.runs_queued'::regclass`,
  ),
  queue: (client) => client.query(`drop index ${SCHEMA}.runs_queued`),
  key: (client) => client.query(`alter table ${TABLE} drop constraint runs_pkey`),
  room: (client) => client.query(`alter table ${TABLE} set (fillfactor = 100)`),
}

function dropEach(find) {
  return async (client) => {
    const { rows } = await client.query(find)
    if (rows.length === 0) throw new Error(`there is nothing to leave out: ${find}`)
    for (const { sql } of rows) await client.query(sql)
  }
}

/** For each run: processor time of the session that writes it, and bytes of WAL. Waiting for the disk is not in it. */
export async function measureInserts(way, { host, client, open, walBytes, batch, batches, warmUp }) {
  for (const thing of way.left ?? []) await WITHOUT[thing](client)
  const { session, pid } = await open()
  const folder = mkdtempSync(join(tmpdir(), "carillon-bench-copy-"))
  // The server may be another user's.
  chmodSync(folder, 0o755)
  const file = join(folder, "runs")
  try {
    let [us, bytes] = [0, 0]
    for (let number = 1; number <= warmUp + batches; number += 1) {
      const ids = Array.from({ length: batch }, () => host.newId())
      if (way.isCopied) writeFileSync(file, linesOf(ids, number * batch), { mode: 0o644 })
      const query = way.isCopied ? `copy ${TABLE} (${COLUMNS}) from '${file}'` : insertOf(ids)
      const [bytesBefore, usBefore] = [await walBytes(client), processUs(pid)]
      await session.query(query)
      if (number <= warmUp) continue
      us += processUs(pid) - usBefore
      bytes += (await walBytes(client)) - bytesBefore
    }
    const { rows } = await client.query(`select count(*)::int as count from ${TABLE}`)
    if (rows[0].count !== batch * (warmUp + batches)) throw new Error(`${rows[0].count} runs were written`)
    return { us: us / (batch * batches), bytes: bytes / (batch * batches) }
  } finally {
    await session.end()
    rmSync(folder, { recursive: true })
  }
}

/** As `COPY` reads them. */
function linesOf(ids, from) {
  const now = new Date().toISOString()
  return ids
    .map((id, n) =>
      [id, "job", "default", 0, from + n, "queued", 0, now, now, INPUT, "standard", "f"].join("\t"),
    )
    .map((line) => `${line}\n`)
    .join("")
}
