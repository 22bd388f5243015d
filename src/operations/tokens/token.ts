/** What a token may do, and the record that operators read of one. */

export const TOKEN_SCOPES = ["read", "enqueue", "work", "operate", "admin"] as const

/**
 * What a token may do: `read` everything it sees, `enqueue` runs, `work` as a remote worker, `operate` (cancel, replay,
 * pause, schedules). `operate` reads as well, and `admin` may do everything.
 */
export type TokenScope = (typeof TOKEN_SCOPES)[number]

/** A token, without its secret. */
export interface TokenRecord {
  /** The id of the token. */
  readonly id: string
  /** What it is for. */
  readonly name: string
  /** What it may do. */
  readonly scopes: readonly TokenScope[]
  /** The only tenant that it sees. Absent for all. */
  readonly tenant?: string
  /** When it was created. */
  readonly createdAt: Date
  /** Who created it. */
  readonly createdBy: string
  /** When it stops to work. */
  readonly expiresAt?: Date
  /** When it was revoked. */
  readonly revokedAt?: Date
}

/** The table has what `tokens.create` has checked. */
export function scopesOf(text: string): TokenScope[] {
  return text.split(",") as TokenScope[]
}
