/** Lists tokens by id, a page at a time. */
import type { Runtime } from "../../runtime/runtime.ts"
import { listTokens } from "../../store/tokens/list.ts"
import { toDate } from "../../time/instant.ts"
import { scopesOf, type TokenRecord } from "./token.ts"

export interface TokenListAnswer {
  readonly items: readonly TokenRecord[]
  /** The next page begins after this id. Undefined if this page is the last. */
  readonly next: string | undefined
}

export async function list(
  { database }: Runtime,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<TokenListAnswer> {
  // One more, to know whether there is another page.
  const rows = await database.run(listTokens, { after, limit: limit + 1 })
  const items = rows.slice(0, limit).map((row) => ({
    id: row.id,
    name: row.name,
    scopes: scopesOf(row.scopes),
    ...(row.tenant !== "" && { tenant: row.tenant }),
    createdAt: toDate(row.created_at),
    createdBy: row.created_by,
    ...(row.expires_at !== null && { expiresAt: toDate(row.expires_at) }),
    ...(row.revoked_at !== null && { revokedAt: toDate(row.revoked_at) }),
  }))
  return { items, next: rows.length > limit ? items.at(-1)?.id : undefined }
}
