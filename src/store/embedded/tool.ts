/** Runs one of PostgreSQL's programs to its end, as the server's user. */
import { execFile } from "node:child_process"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import type { Account } from "./account.ts"
import { adviceFor } from "./advice.ts"
import { errorCode } from "./failure.ts"

export interface ToolOptions {
  /** A folder that the account can reach: the programs look up their own path. */
  readonly cwd: string
  readonly account: Account
  readonly input?: string
}

/** Ten times as long as initdb takes on a slow disk. */
const LIMIT_MS = 60_000

export async function runTool(
  host: Host,
  program: string,
  args: readonly string[],
  options: ToolOptions,
): Promise<void> {
  const limit = new AbortController()
  const timer = host.after(LIMIT_MS, () => limit.abort())
  try {
    await run(program, args, { ...options, env: toolEnvironment(host), signal: limit.signal })
  } finally {
    timer.cancel()
  }
}

/** Inherits only PATH: variables such as PGPORT or PGOPTIONS are meant for other servers. */
export function toolEnvironment(host: Host): Record<string, string> {
  const { PATH = "/usr/bin:/bin" } = host.facts.env
  return { PATH, LC_ALL: "C", TZ: "UTC" }
}

interface RunOptions extends ToolOptions {
  readonly env: Record<string, string>
  readonly signal: AbortSignal
}

function run(program: string, args: readonly string[], options: RunOptions): Promise<void> {
  const { account, input, ...rest } = options
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { ...rest, ...account }, (error, stdout, stderr) => {
      if (error) reject(toolFailed(program, error, `${stdout}${stderr}`))
      else resolve()
    })
    // A program that ended early has closed its input. Its exit code tells more than EPIPE.
    child.stdin?.on("error", () => {})
    child.stdin?.end(input)
  })
}

function toolFailed(program: string, error: Error, output: string): CarillonError {
  if (errorCode(error) === "ENOENT") return loaderMissing(program, error)
  const said = output.trim().split("\n").slice(-15).join("\n")
  return new CarillonError(
    "EMBEDDED_FAILED",
    `${program} failed (${error.message.split("\n")[0]}).${adviceFor(said)}\n${said}`,
    {
      cause: error,
    },
  )
}

/** The file exists, so the system did not find the loader that it names, which is glibc's. */
function loaderMissing(program: string, cause: Error): CarillonError {
  return new CarillonError(
    "EMBEDDED_UNSUPPORTED",
    `${program} cannot run here: it needs glibc, which Alpine Linux and other musl systems lack. ` +
      'Use an image with glibc, or give a server of your own: `database: "postgres://..."`.',
    { cause },
  )
}
