/** Refuses requests before any route sees them. */
import { CarillonError } from "../errors.ts"
import type { ResolvedHttp } from "./options.ts"

/** A website whose DNS name now leads to this machine sends its own name as the host. */
export function guarded(request: Request, options: ResolvedHttp): void {
  if (isForThisHost(request, options)) return
  const name = JSON.stringify(hostOf(request).slice(0, 100))
  throw new CarillonError("HOST_REFUSED", `This server does not answer as ${name}.`)
}

export function isForThisHost(request: Request, { hosts }: ResolvedHttp): boolean {
  return hosts.has(hostOf(request).replace(/:\d*$/, ""))
}

function hostOf(request: Request): string {
  return (request.headers.get("Host") ?? new URL(request.url).host).toLowerCase()
}
