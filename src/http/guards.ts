/** Refuses requests that a website has made a browser send. */
import { CarillonError } from "../errors.ts"
import type { ResolvedHttp } from "./options.ts"

/** A website whose DNS name now leads to this machine sends its own name as the host. */
export function assertOwnHost(request: Request, options: Pick<ResolvedHttp, "hosts">): void {
  if (isOwnHost(request, options)) return
  const shown = JSON.stringify(hostOf(request).slice(0, 100))
  throw new CarillonError("HOST_REFUSED", `This server does not answer as ${shown}.`)
}

export function isOwnHost(request: Request, { hosts }: Pick<ResolvedHttp, "hosts">): boolean {
  return hosts === undefined || hosts.has(hostOf(request).replace(/:\d*$/, ""))
}

const SAFE_METHODS = ["GET", "HEAD", "OPTIONS"]

/** A browser says for which site it sends a request. A program says nothing, and has no cookies of others. */
export function assertOwnOrigin(request: Request): void {
  if (SAFE_METHODS.includes(request.method)) return
  const site = request.headers.get("Sec-Fetch-Site")
  const origin = request.headers.get("Origin")
  const isOwn =
    site === null
      ? origin === null || origin.toLowerCase().replace(/^https?:\/\//, "") === hostOf(request)
      : site === "same-origin" || site === "none"
  if (isOwn) return
  throw new CarillonError("ORIGIN_REFUSED", "The request comes from a page of another website.")
}

function hostOf(request: Request): string {
  return (request.headers.get("Host") ?? new URL(request.url).host).toLowerCase()
}
