/** `carillon dev`: everything in one process for this machine, with a demo where the project has no configuration. */
import type { Command, CommandCall } from "./command.ts"
import { createDemo } from "./demo/demo.ts"
import { isLoopback } from "./serving/loopback.ts"
import { optionsOf, SERVE_SETTINGS } from "./serving/options.ts"
import { serve } from "./serving/serve.ts"
import type { Settings } from "./settings/read.ts"
import { UsageError } from "./usage-error.ts"

export const dev: Command = {
  words: "dev",
  summary: "run everything on this machine, with a demo if there is no configuration",
  settings: SERVE_SETTINGS.filter((name) => name !== "roles"),
  options: { demo: { help: "run the demo also on a server that --database names" } },
  more:
    "It serves this machine only and asks for no token. `carillon start` serves others.\n" +
    "Without a file of configuration and without --database it runs a demo.",
  run,
}

/** The person who waits for the end of a demo has little patience. */
const GRACE = "5s"

async function run(call: CommandCall): Promise<void> {
  const { host, terminal } = call
  const settings = await call.readSettings()
  const { hostname, port } = loopbackOf(settings)
  const demo = hasDemo(call, settings) ? createDemo(host) : undefined
  await serve({
    host,
    terminal,
    options: { ...optionsOf(settings), ...demo?.options },
    http: { access: "open", basePath: settings.get("basePath") ?? "" },
    address: { hostname, port },
    isApi: true,
    drainFor: settings.get("drainFor") ?? 0,
    grace: settings.get("grace") ?? GRACE,
    onReady: async ({ carillon, url }) => {
      terminal.print(`Carillon is ready: ${url}`)
      terminal.print(`  API       ${url}api/v1`)
      if (demo) terminal.print("  Demo      a small shop, because there is no carillon.config.ts here")
      if (settings.file !== undefined) terminal.print(`  Config    ${settings.file}`)
      terminal.print("Ctrl-C stops it.")
      await demo?.open(carillon)
    },
  })
}

function loopbackOf(settings: Settings): { readonly hostname: string; readonly port: number } {
  const hostname = settings.get("host") ?? ""
  if (!isLoopback(hostname)) {
    throw new UsageError(
      `\`carillon dev\` asks for no token, so it listens on this machine only, not on ${JSON.stringify(hostname)} ` +
        `(${settings.originOf("host")}). Use \`carillon start\` to serve others.`,
    )
  }
  return { hostname, port: settings.get("port") ?? 0 }
}

/** Never beside the runs of others, unless it is asked for. */
function hasDemo({ values }: CommandCall, settings: Settings): boolean {
  if (settings.config !== undefined) return false
  return values["demo"] === true || settings.get("database") === undefined
}
