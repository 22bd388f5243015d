/** Keeps callers with a tenant to what is theirs. What belongs to others is for them as if it were not there. */
import { CarillonError } from "../errors.ts"
import type { Caller } from "./route.ts"

/** The tenant that a call is about. A caller with a tenant may name that one and no other. */
export function tenantOf(caller: Caller, named: string | undefined): { readonly tenant?: string } {
  if (caller.tenant === undefined) return named === undefined ? {} : { tenant: named }
  if (named !== undefined && named !== caller.tenant) {
    throw new CarillonError(
      "TENANT_BOUND",
      `This token is bound to a tenant, and not to ${JSON.stringify(named)}.`,
    )
  }
  return { tenant: caller.tenant }
}

/** The record, if the caller may know of it. */
export function ifOwn<T extends { readonly tenant?: string }>(
  caller: Caller,
  record: T | undefined,
): T | undefined {
  return caller.tenant === undefined || record?.tenant === caller.tenant ? record : undefined
}
