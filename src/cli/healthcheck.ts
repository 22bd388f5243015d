/** `carillon healthcheck`: asks the server of this machine how it is, for containers without curl. */
import type { Command } from "./command.ts"
import { UnhealthyError } from "./exit-codes.ts"
import { urlOf } from "./serving/loopback.ts"

const PATIENCE_MS = 5_000

export const healthcheck: Command = {
  words: "healthcheck",
  summary: "whether the server of this machine is alive, or ready",
  settings: ["host", "port", "basePath", "config"],
  options: { ready: { help: "ask whether it is ready: its database answers and it is not ending" } },
  more: "It exits with 0, or with 5 if the server is not well.",
  run: async ({ host, terminal, values, readSettings }) => {
    const settings = await readSettings()
    const base = urlOf(settings.get("host") ?? "", settings.get("port") ?? 0, settings.get("basePath") ?? "")
    const url = `${base}${values["ready"] === true ? "readyz" : "healthz"}`
    const late = new AbortController()
    const timer = host.after(PATIENCE_MS, () => late.abort())
    try {
      const { status } = await fetch(url, { signal: late.signal, redirect: "error" })
      if (status !== 200) throw new UnhealthyError(`${url} answers ${status}.`)
      terminal.print(`${url} answers 200.`)
    } catch (error) {
      if (error instanceof UnhealthyError) throw error
      throw new UnhealthyError(
        late.signal.aborted ? `${url} has not answered in 5 s.` : `Nothing answers at ${url}.`,
      )
    } finally {
      timer.cancel()
    }
  },
}
