/** What a server knows of a request that the request does not say. */

/** What a server knows of a request that the request does not say. */
export interface RequestInfo {
  /** The address of the client, as in `127.0.0.1`. */
  readonly address?: string
}
