/**
 * The compiler's messages about mistakes, and their places: the carets in `mistakes/*.ts` stand under the right word.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { runCommand } from "../support/run-command.ts"
import { ROOT } from "../support/sources.ts"

const FOLDER = join(ROOT, "test/types/mistakes")

interface Complaint {
  readonly at: string
  readonly text: string
}

it("the compiler complains about each mistake at its word, in words that help, and about nothing else", async () => {
  const told = await complaints()
  const expected = readdirSync(FOLDER)
    .filter((file) => file.endsWith(".ts"))
    .flatMap(expectations)
  expect(told.map(({ at }) => at).sort()).toEqual(expected.map(({ at }) => at).sort())
  const missing = expected.filter(
    ({ at, text }) => !told.some((complaint) => complaint.at === at && complaint.text.includes(text)),
  )
  expect(missing.map((one) => ({ ...one, told: told.find(({ at }) => at === one.at)?.text }))).toEqual([])
}, 120_000)

/**
 * `// ^ words`: the message about the first word of the last line that is no such comment; further in, at the caret.
 */
function expectations(file: string): Complaint[] {
  const lines = readFileSync(join(FOLDER, file), "utf8").split("\n")
  let row = 0
  return lines.flatMap((line, index) => {
    const [, indent, gap, text] = /^( *)\/\/( +)\^ (.+)$/.exec(line) ?? []
    if (indent === undefined || gap === undefined || text === undefined) {
      row = index + 1
      return []
    }
    const column = indent.length + (gap === " " ? 0 : 2 + gap.length) + 1
    return [{ at: `${file}:${row}:${column}`, text }]
  })
}

async function complaints(): Promise<Complaint[]> {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc")
  const { output } = await runCommand(process.execPath, [tsc, "-p", FOLDER, "--pretty", "false"], {
    cwd: ROOT,
  }).ended
  const found: { at: string; text: string }[] = []
  for (const line of output.split("\n")) {
    const [, file, row, column, text] =
      /mistakes\/([\w.-]+)\((\d+),(\d+)\): error TS\d+: (.+)/.exec(line) ?? []
    if (text !== undefined) found.push({ at: `${file}:${row}:${column}`, text })
    else if (found.length > 0) (found.at(-1) as { text: string }).text += `\n${line}`
  }
  return found
}
