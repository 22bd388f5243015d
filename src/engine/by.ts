/** Who makes a change, and why. */
export interface By {
  /** The user or the program that asked for it. */
  readonly actor: string
  /** Empty if no reason was given. */
  readonly reason: string
}
