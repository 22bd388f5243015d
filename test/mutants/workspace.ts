/** A copy of the project in which one mutant at a time takes the place of the product. */
import { execFileSync, spawn } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { Edit } from "./mutant.ts"

export interface Workspace {
  readonly folder: string
  /** Makes the edits, calls `work` and takes them back. Throws when one of them does not fit. */
  readonly edited: <Result>(edits: readonly Edit[], work: () => Promise<Result>) => Promise<Result>
  /** Runs a command in the copy. */
  readonly run: (command: string, ...args: readonly string[]) => Promise<Finished>
  readonly remove: () => void
}

export interface Finished {
  readonly code: number
  readonly output: string
}

export function createWorkspace(project = process.cwd()): Workspace {
  const folder = mkdtempSync(join(tmpdir(), "carillon-mutant-"))
  for (const file of filesOf(project)) cpSync(join(project, file), join(folder, file))
  symlinkSync(resolve(project, "node_modules"), join(folder, "node_modules"))
  return {
    folder,
    edited: async (edits, work) => {
      const before = edits.map(({ file }) => ({ file, text: readFileSync(join(folder, file), "utf8") }))
      try {
        for (const edit of edits) {
          const file = join(folder, edit.file)
          writeFileSync(file, applyEdit(readFileSync(file, "utf8"), edit))
        }
        return await work()
      } finally {
        for (const { file, text } of before.reverse()) writeFileSync(join(folder, file), text)
      }
    },
    run: (command, ...args) => runIn(folder, command, args),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Everything that belongs to the project, committed or not. */
function filesOf(project: string): string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: project,
    encoding: "utf8",
  })
  return listed.split("\0").filter((file) => file !== "" && existsSync(join(project, file)))
}

export function applyEdit(text: string, { file, find, replace }: Edit): string {
  const places = text.split(find).length - 1
  if (places !== 1)
    throw new Error(`${file} has ${places} places that read ${JSON.stringify(find)}, instead of one`)
  return text.replace(find, () => replace)
}

function runIn(cwd: string, command: string, args: readonly string[]): Promise<Finished> {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] })
    const said: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => said.push(String(chunk)))
    child.on("error", fail)
    child.on("close", (code) => done({ code: code ?? 1, output: said.join("") }))
  })
}
