/** What a server knows of a request that the request does not say. */

/** What a server knows of a request that the request does not say. */
export interface RequestInfo {
  /** The address of the client, as in `127.0.0.1`. */
  readonly address?: string
}

const LONGEST = 100

/**
 * Whose failures count together. Behind a proxy all clients have its address, so the last address of `X-Forwarded-For`
 * stands beside it: the proxy has added that one itself. Undefined if the server tells no address.
 */
export function clientOf({ headers }: Request, { address }: RequestInfo): string | undefined {
  const forwarded = headers.get("X-Forwarded-For")?.split(",").at(-1)?.trim().slice(0, LONGEST)
  return address === undefined || forwarded === undefined ? address : `${address} ${forwarded}`
}
