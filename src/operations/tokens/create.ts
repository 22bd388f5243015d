/** Creates a token. Its text is known once: only the hash of the secret is stored. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { readClock } from "../../store/clock/read.ts"
import { addToken } from "../../store/tokens/add.ts"
import { type InstantMs, toDate } from "../../time/instant.ts"
import { newToken } from "./secret.ts"
import type { TokenScope } from "./token.ts"

export interface CreateTokenRequest {
  readonly name: string
  readonly scopes: readonly TokenScope[]
  readonly tenant: string
  readonly expiresInMs: number | undefined
  readonly by: By
}

/** A new token. */
export interface NewToken {
  /** The id of the token. The audit and the list name it. */
  readonly id: string
  /** The token itself, as callers send it. It is not stored, so it cannot be read again. */
  readonly token: string
  /** When it was created. */
  readonly createdAt: Date
  /** When it stops to work. Absent if it works until it is revoked. */
  readonly expiresAt?: Date
}

export async function createToken(
  runtime: Runtime,
  { name, scopes, tenant, expiresInMs, by }: CreateTokenRequest,
): Promise<OperationResult<NewToken>> {
  const { database } = runtime
  const { id, text, hash } = newToken(runtime)
  const expiresAt = expiresInMs === undefined ? null : await later(runtime, expiresInMs)
  const scopeText = scopes.toSorted().join(",")
  const [row] = await database.run(addToken, { id, hash, name, scopes: scopeText, tenant, expiresAt, ...by })
  const answer = {
    ...{ id, token: text, createdAt: toDate(row?.created_at ?? 0) },
    ...(expiresAt !== null && { expiresAt: toDate(expiresAt) }),
  }
  return { answer, effects: {} }
}

async function later({ database }: Runtime, ms: number): Promise<InstantMs> {
  return ((await database.run(readClock, {}))[0]?.at ?? 0) + ms
}
