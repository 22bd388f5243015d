/** All that the engine stands on, as one value: the process it runs in and the database it talks to. */
import type { Database } from "../store/database.ts"
import type { Host } from "./host.ts"

export interface Runtime extends Host {
  readonly database: Database
}
