/** The actor and the reason of a change. */
export interface By {
  /** The user or the program that asks for the change. */
  readonly actor: string
  /** Empty without a reason. */
  readonly reason: string
}
