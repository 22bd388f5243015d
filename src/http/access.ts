/** Who a caller is, and whether that caller may use a route. */
import type { Carillon } from "../api/carillon.ts"
import { CarillonError } from "../errors.ts"
import type { Host } from "../runtime/host.ts"
import { createFailureLimit } from "./failure-limit.ts"
import { assertOwnOrigin } from "./guards.ts"
import type { ResolvedHttp } from "./options.ts"
import { clientOf, type RequestInfo } from "./request-info.ts"
import type { Caller, Route } from "./route.ts"
import { sessionOf } from "./session-cookie.ts"

export interface Access {
  /** Throws for a caller without a valid token, unless every caller may do everything. */
  readonly callerOf: (request: Request, info: RequestInfo) => Promise<Caller>
  /** What a token may do. Throws if it is not valid, or if too many from this client were not. */
  readonly verify: (token: string, client: string | undefined) => Promise<VerifiedToken>
}

type VerifiedToken = NonNullable<Awaited<ReturnType<Carillon["tokens"]["verify"]>>>

/** A revoked token works for so much longer in this process. */
const KNOWN_MS = 1_000
const MOST_KNOWN = 1_000
const VERIFY_WITHIN = "5s"

export function createAccess(
  host: Pick<Host, "monotonicMs">,
  carillon: Carillon,
  { access }: Pick<ResolvedHttp, "access">,
): Access {
  const failures = createFailureLimit(host)
  const known = new Map<string, { readonly token: VerifiedToken; readonly untilMs: number }>()

  async function verify(text: string, client: string | undefined): Promise<VerifiedToken> {
    const there = known.get(text)
    if (there && host.monotonicMs() < there.untilMs) return there.token
    // A token that was valid before is no guess. Other callers with its address must not lock it out.
    if (there === undefined) failures.assertFew(client)
    const token = await carillon.tokens.verify(text, { deadline: VERIFY_WITHIN })
    if (token === undefined) {
      known.delete(text)
      failures.add(client)
      throw new CarillonError("TOKEN_INVALID", "The token is unknown, revoked or expired.")
    }
    // Many tokens at once are forgotten together: a lookup is cheap, and this happens seldom.
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(text, { token, untilMs: host.monotonicMs() + KNOWN_MS })
    return token
  }

  async function callerOf(request: Request, info: RequestInfo): Promise<Caller> {
    const actor = request.headers.get("X-Carillon-Actor") ?? undefined
    if (access === "open") {
      assertOwnOrigin(request)
      return { ...(actor !== undefined && { actor }), scopes: ["admin"] }
    }
    const bearer = bearerOf(request)
    // A browser adds a cookie to requests of other websites, too.
    if (bearer === undefined) assertOwnOrigin(request)
    const text = bearer ?? sessionOf(request)
    if (text === undefined) throw new CarillonError("TOKEN_MISSING", "The request has no token.")
    const { name, scopes, tenant } = await verify(text, clientOf(request, info))
    return {
      actor: actor === undefined ? name : `${actor} by ${name}`,
      scopes,
      ...(tenant !== undefined && { tenant }),
    }
  }

  return { callerOf, verify }
}

function bearerOf({ headers }: Request): string | undefined {
  const [, token] = /^Bearer +(\S+) *$/i.exec(headers.get("Authorization") ?? "") ?? []
  return token
}

/** May the caller read what a change answers? */
export function mayRead({ scopes }: Caller): boolean {
  return ["admin", "read", "operate"].some((scope) => scopes.includes(scope as Caller["scopes"][number]))
}

export function assertMay(caller: Caller, { scope, ofTenant }: Pick<Route, "scope" | "ofTenant">): void {
  const { scopes, tenant } = caller
  const isAllowed =
    scope === "any" ||
    scopes.includes("admin") ||
    scopes.includes(scope) ||
    (scope === "read" && mayRead(caller))
  if (!isAllowed) {
    throw new CarillonError("SCOPE_MISSING", `This needs a token with the scope "${scope}".`)
  }
  if (tenant !== undefined && !ofTenant) {
    throw new CarillonError("TENANT_BOUND", "This is about all tenants, and the token is bound to one.")
  }
}
