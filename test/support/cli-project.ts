/** Projects in folders of their own, in which the built command line runs. */
import { mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type RunningCommand, runCommand } from "./run-command.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const CLI = join(ROOT, "dist/cli/main.js")

export interface CliProject {
  readonly folder: string
  readonly carillon: (args: readonly string[], env?: NodeJS.ProcessEnv) => RunningCommand
}

/** A project with these files and with Carillon as its package. */
export async function createCliProject(files: Readonly<Record<string, string>> = {}): Promise<CliProject> {
  const folder = await mkdtemp(join(tmpdir(), "carillon-project-"))
  await mkdir(join(folder, "node_modules"))
  await symlink(ROOT, join(folder, "node_modules/carillon"))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return {
    folder,
    carillon: (args, env = {}) =>
      runCommand(process.execPath, [CLI, ...args], {
        cwd: folder,
        env: { PATH: process.env["PATH"], ...env },
      }),
  }
}

/** The URL that a serving process prints when it is ready. */
export async function urlOf(server: RunningCommand): Promise<string> {
  const [, url] = await server.finds(/Carillon is ready: (\S+)/)
  return url ?? ""
}
