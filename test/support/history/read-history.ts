/** Reads the files of all processes of a test back into one history. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Entry, type History, type OperationName, REQUIRED_FIELDS } from "./operations.ts"

/** Every line of every file in `folder`, the earliest first. Refuses files that no recorder wrote. */
export function readHistory(folder: string): History {
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"))
  return inOrder(files.flatMap((name) => parseLines(readFileSync(join(folder, name), "utf8"), name)))
}

/** By the clock that all processes share; lines of one process in the same nanosecond keep their order. */
export function inOrder(entries: readonly Entry[]): History {
  return [...entries].sort((a, b) => Number(a.ns - b.ns) || a.pid - b.pid || a.seq - b.seq)
}

/** The last line may be torn, because its writer was killed; any other unreadable line is a fault. */
export function parseLines(text: string, file: string): Entry[] {
  const lines = text.split("\n")
  const last = lines.pop() ?? ""
  const entries = lines.map((line, index) => parseEntry(line, `${file}:${index + 1}`))
  if (isWhole(last)) entries.push(parseEntry(last, `${file}:${lines.length + 1}`))
  const gap = entries.findIndex(({ seq }, index) => seq !== index)
  if (gap >= 0)
    throw new Error(`${file}:${gap + 1} is not line ${gap} of its process: one was lost before it`)
  return entries
}

/** Its closing brace is the last character of a line, but for the newline. */
function isWhole(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

function parseEntry(line: string, where: string): Entry {
  const value = parseObject(line, where)
  const { op } = value
  if (!isOperation(op)) throw new Error(`${where} has an unknown operation: ${String(op)}`)
  const wrong = Object.entries({ ...STAMP, ...REQUIRED_FIELDS[op] })
    .filter(([field, type]) => typeof value[field] !== type)
    .map(([field, type]) => `\`${field}\`, a ${type}`)
  if (wrong.length > 0) throw new Error(`${where}: ${op} needs ${wrong.join(" and ")}`)
  return { ...value, ns: BigInt(value["ns"] as string) } as Entry
}

const STAMP = { ns: "string", pid: "number", seq: "number" } as const

function parseObject(line: string, where: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>
  } catch {
    // Reported below, with its place.
  }
  throw new Error(`${where} is not a line of a recorder: ${line.slice(0, 80)}`)
}

function isOperation(op: unknown): op is OperationName {
  return typeof op === "string" && Object.hasOwn(REQUIRED_FIELDS, op)
}
