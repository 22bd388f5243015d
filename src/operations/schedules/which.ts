/** The schedule that an operation changes, with the actor and the reason. */
import type { By } from "../../engine/by.ts"

export interface WhichSchedule {
  readonly name: string
  /** Empty for a schedule without a tenant. */
  readonly tenant: string
  readonly by: By
}
