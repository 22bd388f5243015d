/** What the engine runs on, as one value: the process and the database. */
import type { Database } from "../store/database.ts"
import type { Host } from "./host.ts"

export interface Runtime extends Host {
  readonly database: Database
}
