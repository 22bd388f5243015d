/** Records the change of one run in the audit, in the transaction of the change. */
import type { By } from "../../engine/by.ts"
import { recordAudit } from "../../store/audit/record.ts"
import type { Runner } from "../../store/database.ts"

export interface RunChange {
  readonly run: string
  readonly by: By
  readonly before: object
  readonly after?: object
}

export async function auditRun(tx: Runner, action: string, change: RunChange): Promise<void> {
  const { run, by, before, after } = change
  await tx.run(recordAudit, {
    ...by,
    action,
    subject: `run:${run}`,
    before: JSON.stringify(before),
    after: after ? JSON.stringify(after) : null,
  })
}
