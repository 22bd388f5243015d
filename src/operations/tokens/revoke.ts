/** Revokes a token: from now on it is refused. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { revokeToken } from "../../store/tokens/revoke.ts"

/** The answer says whether the token was valid until now. */
export async function revoke(
  { database }: Runtime,
  { id, by }: { readonly id: string; readonly by: By },
): Promise<OperationResult<boolean>> {
  const rows = await database.run(revokeToken, { id, ...by })
  return { answer: rows.length > 0, effects: {} }
}
