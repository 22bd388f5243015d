/** Who a caller is, and whether that caller may use a route. */
import { CarillonError } from "../errors.ts"
import type { Caller, Route } from "./route.ts"

/** Without tokens every caller may do everything. */
export function callerOf({ headers }: Request): Caller {
  const actor = headers.get("X-Carillon-Actor")
  return { ...(actor !== null && { actor }), scopes: ["admin"] }
}

export function assertMay({ tenant }: Caller, route: Pick<Route, "ofTenant">): void {
  if (tenant === undefined || route.ofTenant) return
  throw new CarillonError("TENANT_BOUND", "This route is about all tenants, and this token is bound to one.")
}
