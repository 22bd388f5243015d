/** The options of `createCarillon` for a serving process: those of the file of configuration, and what goes before. */
import type { CarillonConfig } from "../../api/config.ts"
import type { CarillonOptions } from "../../api/options.ts"
import { databaseOptionsOf } from "../settings/database.ts"
import type { Settings } from "../settings/read.ts"
import type { SettingName } from "../settings/table.ts"

/** The settings of `carillon dev` and `carillon start`. */
export const SERVE_SETTINGS = [
  "host",
  "port",
  "basePath",
  "allowedHosts",
  "roles",
  "pools",
  "application",
  "codeVersion",
  "grace",
  "drainFor",
  "database",
  "schema",
  "dataDir",
  "config",
] as const satisfies readonly SettingName[]

export function optionsOf(settings: Settings): CarillonOptions {
  const { http: _http, grace: _grace, roles: _roles, ...rest }: CarillonConfig = settings.config ?? {}
  const pools = settings.get("pools")
  const application = settings.get("application")
  const version = settings.get("codeVersion")
  return {
    ...rest,
    ...databaseOptionsOf(settings),
    ...(pools !== undefined && { pools }),
    ...(application !== undefined && { application }),
    ...(version !== undefined && { version }),
  }
}
