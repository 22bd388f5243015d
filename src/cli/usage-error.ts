/** The error of a call that is wrong. */

/** The call itself is wrong. The message says how. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}
