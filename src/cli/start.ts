/** `carillon start`: a process of a deployment, with the roles that it is given. */
import type { Command, CommandCall } from "./command.ts"
import { optionsOf, SERVE_SETTINGS } from "./serving/options.ts"
import { serve } from "./serving/serve.ts"
import { UsageError } from "./usage-error.ts"

export const start: Command = {
  words: "start",
  summary: "run a process of a deployment: API, worker, scheduler",
  settings: SERVE_SETTINGS,
  more:
    "Its API asks for tokens: `carillon token create` makes one.\n" +
    "Its log is one JSON object a line, except on a terminal. SIGTERM ends it in order:\n" +
    "it is no longer ready, requests finish, runs finish or go back to the queue.",
  run,
}

async function run(call: CommandCall): Promise<void> {
  const { host, terminal } = call
  const settings = await call.readSettings()
  const roles = settings.get("roles") ?? []
  const isApi = roles.includes("api")
  const hostname = settings.get("host") ?? ""
  const allowedHosts = settings.get("allowedHosts")
  if (settings.config === undefined && roles.includes("worker")) {
    throw new UsageError(
      "A worker needs jobs, and there is no carillon.config.ts here. Write one, name one with --config, or give " +
        "--roles api,scheduler.",
    )
  }
  await serve({
    host,
    terminal,
    options: { ...optionsOf(settings), roles: roles.filter((role) => role !== "api") },
    http: {
      access: "tokens",
      environment: "production",
      basePath: settings.get("basePath") ?? "",
      ...(allowedHosts !== undefined && { hosts: allowedHosts }),
    },
    address: { hostname, port: settings.get("port") ?? 0 },
    isApi,
    drainFor: settings.get("drainFor") ?? 0,
    grace: settings.get("grace"),
    onReady: ({ url }) => terminal.print(`Carillon is ready: ${url} (${roles.join(", ")})`),
  })
}
