/** Which schedule an operation is about, and who asks for it. */
import type { By } from "../../engine/by.ts"

export interface WhichSchedule {
  readonly name: string
  /** Empty for a schedule without a tenant. */
  readonly tenant: string
  readonly by: By
}
