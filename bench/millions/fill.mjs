/** Writes millions of runs and attempts as the library would, by copying one of each that it wrote itself. */

/** In the order in which they are made, as the library's own ids are. */
const idOf = (ms) => `(lpad(to_hex(${ms}), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid`
/** So many in a statement. */
const CHUNK = 1_000_000

/** What differs from the copied row, by kind. `n` numbers them. */
const KINDS = {
  finished: {
    table: "carillon.attempts",
    columns: {
      run: idOf("1700000000000 + n / 1000"),
      claim: "n",
      finished_at: "like_this.finished_at + n * interval '1 microsecond'",
    },
  },
  future: {
    table: "carillon.runs",
    columns: {
      id: idOf("1710000000000 + n / 1000"),
      stage: "'waiting'",
      rank: "like_this.rank + n",
      due_at: "now() + interval '6 hours' + n * interval '10 milliseconds'",
    },
  },
  ready: {
    table: "carillon.runs",
    columns: {
      id: idOf("1720000000000 + n / 1000"),
      stage: "'queued'",
      rank: "like_this.rank + n",
      input: "json_build_object('n', n, 'to', 'ada@example.com', 'subject', 'Hello')",
    },
  },
}

/**
 * Keeps the two rows that all others are like. To be called when the library has executed one run and keeps another.
 */
export async function keepExamples(client) {
  await client.query("create table example_runs as select * from carillon.runs limit 1")
  await client.query("create table example_attempts as select * from carillon.attempts limit 1")
  await client.query("truncate carillon.runs, carillon.attempts")
}

/** `count` of a kind, numbered from `from` on. */
export async function fillWith(client, kind, { count, from = 0 }) {
  const { table, columns } = KINDS[kind]
  const example = table.replace("carillon.", "example_")
  const { rows } = await client.query(
    `select attname from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  )
  const names = rows.map(({ attname }) => attname)
  const values = names.map((name) => columns[name] ?? `like_this.${name}`)
  for (let at = from; at < from + count; at += CHUNK) {
    const to = Math.min(at + CHUNK, from + count) - 1
    await client.query(
      `insert into ${table} (${names.join(", ")})
      select ${values.join(", ")} from ${example} as like_this cross join generate_series(${at}, ${to}) as n`,
    )
  }
}

/** So that neither autovacuum nor a checkpoint falls into the next figure by chance. */
export async function settle(client) {
  await client.query("vacuum (analyze) carillon.runs")
  await client.query("vacuum (analyze) carillon.attempts")
  await client.query("checkpoint")
}
