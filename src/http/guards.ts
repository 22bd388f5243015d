/** Refuses requests before any route sees them. */
import { CarillonError } from "../errors.ts"
import type { ResolvedHttp } from "./options.ts"

/** A website whose DNS name now leads to this machine sends its own name as the host. */
export function guarded(request: Request, { hosts }: ResolvedHttp): void {
  const host = (request.headers.get("Host") ?? new URL(request.url).host).toLowerCase()
  if (hosts.has(host.replace(/:\d*$/, ""))) return
  throw new CarillonError(
    "HOST_REFUSED",
    `This server does not answer as ${JSON.stringify(host.slice(0, 100))}.`,
  )
}
