/** The recorder loses no written line, and the reader refuses everything that is no history. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { parseLines, readHistory } from "../support/history/read-history.ts"
import { openRecorder } from "../support/history/record.mjs"

const CHATTERBOX = fileURLToPath(new URL("../support/history/chatterbox.mjs", import.meta.url))

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "carillon-history-"))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe("what is recorded", () => {
  it("is read as it was written, with its process and its time", () => {
    const { record, close } = openRecorder(folder, "client")
    record("enq_invoke", { run: "a", attempts: 3 })
    record("start", { run: "a", claim: -9_223_372_036_854_775_808n, attempt: 1, lease: "L" })
    close()
    const history = readHistory(folder)
    expect(history).toMatchObject([
      { op: "enq_invoke", run: "a", attempts: 3, pid: process.pid, seq: 0 },
      { op: "start", run: "a", claim: "-9223372036854775808", attempt: 1, lease: "L", seq: 1 },
    ])
    expect(history.map(({ ns }) => typeof ns)).toEqual(["bigint", "bigint"])
  })

  it("by several recorders is one history in the order of time", () => {
    const [one, other] = [openRecorder(folder), openRecorder(folder)]
    one.record("enq_invoke", { run: "a" })
    other.record("enq_invoke", { run: "b" })
    one.record("enq_ok", { run: "a", created: true })
    for (const { close } of [one, other]) close()
    expect(readHistory(folder).map((entry) => entry.op === "enq_invoke" && entry.run)).toEqual([
      "a",
      "b",
      false,
    ])
  })

  it("by a process that is killed meanwhile is there to the last complete line", async () => {
    const child = spawn(process.execPath, [CHATTERBOX, folder], { stdio: ["ignore", "pipe", "inherit"] })
    await once(child.stdout, "data")
    child.kill("SIGKILL")
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"])
    const history = readHistory(folder)
    expect(history.length).toBeGreaterThan(100)
    expect(history.map(({ seq }) => seq)).toEqual(history.map((_, index) => index))
    expect(new Set(history.map(({ pid }) => pid))).toEqual(new Set([child.pid]))
  })
})

describe("the reader", () => {
  const line = (seq: number, more = {}) =>
    JSON.stringify({ ns: String(seq), pid: 1, seq, op: "enq_ok", run: "a", created: true, ...more })

  it("accepts every prefix of a file as a history that was cut short, and completes no line", () => {
    const { file, record, close } = openRecorder(folder)
    for (const run of ["a", "b", "c"]) record("enq_invoke", { run })
    close()
    const text = readFileSync(file, "utf8")
    const ends = [...text.matchAll(/\}\n/g)].map(({ index }) => index + 1)
    for (let length = 0; length <= text.length; length += 1) {
      const whole = ends.filter((end) => end <= length).length
      expect(parseLines(text.slice(0, length), "file")).toHaveLength(whole)
    }
  })

  it("ignores files that no recorder wrote", () => {
    writeFileSync(join(folder, "effects"), "something else")
    expect(readHistory(folder)).toEqual([])
  })

  it.each([
    [
      "a torn line that is not the last",
      `${line(0).slice(0, 9)}\n${line(1)}\n`,
      "file:1 is not a line of a recorder",
    ],
    ["a line that is missing", `${line(0)}\n${line(2)}\n`, "file:2 is not line 1 of its process"],
    ["an unknown operation", `${line(0, { op: "enq_okay" })}\n`, "file:1 has an unknown operation: enq_okay"],
    [
      "a field that is missing",
      `${line(0, { created: undefined })}\n`,
      "file:1: enq_ok needs `created`, a boolean",
    ],
    [
      "a claim that was rounded to a number",
      `${line(0, { op: "fenced", claim: 1 })}\n`,
      "needs `claim`, a string",
    ],
  ])("refuses %s", (_, text, message) => {
    expect(() => parseLines(text, "file")).toThrow(message)
  })
})
