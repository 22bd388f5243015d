// Writes the history of one process, so that a kill loses no written line. Plain JavaScript, because processes under
// test run it as it is. The vocabulary is in operations.ts.
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"

/** Each process has a file of its own, so that a line torn by a kill is the last of its file. */
export function openRecorder(folder, name = "process") {
  mkdirSync(folder, { recursive: true })
  const { pid } = process
  // Not the pid alone: the system reuses it later.
  const file = join(folder, `${name}-${pid}-${process.hrtime.bigint()}.jsonl`)
  const descriptor = openSync(file, "ax")
  let seq = 0
  return {
    file,
    /** One line by one write, made before this returns: then it is the kernel's, and survives the process. */
    record: (op, data) => {
      const entry = { ns: process.hrtime.bigint(), pid, seq, op, ...data }
      const line = Buffer.from(`${JSON.stringify(entry, digits)}\n`)
      seq += 1
      const written = writeSync(descriptor, line)
      if (written < line.length)
        throw new Error(`only ${written} of ${line.length} bytes fitted into ${file}`)
    },
    close: () => closeSync(descriptor),
  }
}

/** JSON has no integers of 64 bits. */
function digits(_key, value) {
  return typeof value === "bigint" ? value.toString() : value
}
