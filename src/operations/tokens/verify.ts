/** Says what a caller with a token may do. */
import type { Runtime } from "../../runtime/runtime.ts"
import { findToken } from "../../store/tokens/find.ts"
import { isSameHash, readToken } from "./secret.ts"
import { scopesOf, type TokenScope } from "./token.ts"

/** A valid token. */
export interface VerifiedToken {
  /** The id of the token. */
  readonly id: string
  /** What it is for. */
  readonly name: string
  /** What it may do. */
  readonly scopes: readonly TokenScope[]
  /** The only tenant that it sees. Absent for all. */
  readonly tenant?: string
}

/** Undefined for a token that is revoked, expired, unknown or misspelt: none can be told from the others. */
export async function verify({ database }: Runtime, text: string): Promise<VerifiedToken | undefined> {
  const token = readToken(text)
  if (token === undefined) return undefined
  const [row] = await database.run(findToken, { id: token.id })
  if (row === undefined || !isSameHash(row.hash, token.hash)) return undefined
  const { name, scopes, tenant } = row
  return { id: token.id, name, scopes: scopesOf(scopes), ...(tenant !== "" && { tenant }) }
}
