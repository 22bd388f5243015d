/**
 * Breaks things under real processes on a real server and judges the rest.
 *
 *     npm run chaos -- --fault F13 --seed 7 --seconds 20
 *     npm run chaos -- all --json test/chaos/results.json
 *     npm run chaos -- --list
 *
 * The seed decides about victims, moments and parameters. Processes, servers and disks have a timing of their own, so
 * the same seed does not give the same history, only the same attack. CARILLON_KEEP=1 keeps every history. Results of
 * rows that were not run stay as they are in the file.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { wholeNumber } from "../support/whole-number.ts"
import { ROWS } from "./faults/index.ts"
import { describeRow, table } from "./results-table.ts"
import { type RowResult, runRow } from "./run-row.ts"
import { removeTemplate } from "./server.ts"

const SECONDS = "8"
const OWN_LENGTH = "lasts until it is done, whatever --seconds says"
const { values, positionals } = readArguments()

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130))
process.exit(await main())

async function main(): Promise<number> {
  if (values.list) {
    for (const { id, title, needs, ownLength } of ROWS) {
      const missing = needs?.()
      const notes = [
        ...(ownLength ? [` [${OWN_LENGTH}]`] : []),
        ...(missing === undefined ? [] : [` [not yet (needs ${missing})]`]),
      ]
      console.log(`${id.padEnd(4)} ${title}${notes.join("")}`)
    }
    return 0
  }
  const seed = wholeNumber("seed", values.seed)
  const seconds = wholeNumber("seconds", values.seconds ?? SECONDS)
  const wanted = wantedRows()
  if (wanted === undefined) return 1
  if (wanted.length === 0) {
    console.error("Say which: --fault F13, several of them, or all. --list lists them.")
    return 2
  }
  const results: RowResult[] = []
  for (const row of wanted) {
    const result = await runRow(row, {
      seed,
      seconds,
      keep: process.env["CARILLON_KEEP"] === "1",
    })
    results.push(result)
    tell(result)
    if (row.ownLength && values.seconds !== undefined) console.log(`     ${row.id} ${OWN_LENGTH}`)
  }
  await removeTemplate()
  if (values.json) keep(values.json, results)
  if (results.length > 1) console.log(`\n${table(results)}`)
  const [broken, held] = (["violated", "held"] as const).map((result) => count(results, result))
  console.log(
    `\n${held} held, ${broken} violated, ${count(results, "not yet")} not yet; seed ${values.seed}.`,
  )
  return broken === 0 ? 0 : 1
}

function keep(file: string, results: readonly RowResult[]): void {
  const before: readonly RowResult[] = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : []
  const all = ROWS.flatMap(({ id }) => {
    const isRow = (each: RowResult) => each.id === id
    return results.find(isRow) ?? before.find(isRow) ?? []
  })
  writeFileSync(file, `${JSON.stringify(all, undefined, 2)}\n`)
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        fault: { type: "string", multiple: true },
        seed: { type: "string", default: "1" },
        seconds: { type: "string" },
        json: { type: "string" },
        list: { type: "boolean", default: false },
      },
    })
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
}

function wantedRows() {
  if (positionals.includes("all")) return ROWS
  const names = new Set((values.fault ?? []).flatMap((name) => name.split(",")))
  const unknown = [...names].filter((name) => !ROWS.some(({ id }) => id === name))
  if (unknown.length > 0) {
    console.error(`There is no ${unknown.join(", ")}. --list lists them.`)
    return undefined
  }
  return ROWS.filter(({ id }) => names.has(id))
}

function tell(result: RowResult): void {
  console.log(describeRow(result).filter(Boolean).join(" · "))
  for (const complaint of result.complaints) console.log(`     ${complaint}`)
  if (result.folder) console.log(`     kept in ${result.folder}`)
}

function count(results: readonly RowResult[], wanted: RowResult["result"]): number {
  return results.filter(({ result }) => result === wanted).length
}
