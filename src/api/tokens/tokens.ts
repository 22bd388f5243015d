/** The calls for the tokens of HTTP callers: how they are checked, and what they answer. */
import { perform } from "../../operations/perform.ts"
import { createToken, type NewToken } from "../../operations/tokens/create.ts"
import { list } from "../../operations/tokens/list.ts"
import { revoke } from "../../operations/tokens/revoke.ts"
import { TOKEN_SCOPES, type TokenRecord, type TokenScope } from "../../operations/tokens/token.ts"
import { type VerifiedToken, verify } from "../../operations/tokens/verify.ts"
import {
  array,
  assertOptions,
  type Check,
  duration,
  expected,
  object,
  oneOf,
  optional,
  satisfies,
} from "../../options/check.ts"
import { type Duration, parseDuration } from "../../time/duration.ts"
import { type ByWhom, byOf, byWhomCheck, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import type { CallOptions } from "../call-options.ts"
import { cursorAfter, PAGE_LIMIT, type PageOptions, pageShape, writeCursor } from "../page-cursor.ts"
import { shortText, tenantNameCheck } from "../runs/enqueue-options.ts"

/** Tokens, with which programs and people call `carillon/http`. */
export interface Tokens {
  /**
   * Creates a token. The answer has its text, which is not stored and cannot be read again.
   *
   * @example
   * const { token } = await carillon.tokens.create({ name: "checkout service", scopes: ["enqueue"] })
   */
  readonly create: (options: TokenOptions & CallOptions) => Promise<NewToken>
  /** Tokens in the order of their ids, also revoked ones, a page at a time. */
  readonly list: (options?: TokenListOptions & CallOptions) => Promise<TokenPage>
  /** Revokes a token. Processes refuse it within two seconds. Returns whether it was valid until now. */
  readonly revoke: (id: string, by?: ByWhom & CallOptions) => Promise<boolean>
  /** What a token may do; `undefined` for a text that is no valid token. */
  readonly verify: (token: string, options?: CallOptions) => Promise<VerifiedToken | undefined>
}

/** The options of a new token. */
export interface TokenOptions extends ByWhom {
  /** What the token is for. The audit names it as the actor of its calls. */
  readonly name: string
  /** What the token may do. */
  readonly scopes: readonly TokenScope[]
  /**
   * The only tenant that the token sees.
   *
   * @default all tenants
   */
  readonly tenant?: string
  /**
   * How long the token works.
   *
   * @default until it is revoked
   */
  readonly expiresIn?: Duration
}

/** Which page of tokens is asked for. */
export interface TokenListOptions extends PageOptions {}

/** A page of tokens. */
export interface TokenPage {
  /** In the order of the ids. */
  readonly items: readonly TokenRecord[]
  /** For the next page. Absent when this is the last one. */
  readonly nextCursor?: string
}

const NAME_LENGTH = 100

/** A token that may do nothing is a mistake. */
const scopesCheck: Check = (value, path) =>
  Array.isArray(value) && value.length === 0
    ? [expected("at least one scope", value, path)]
    : array(oneOf(...TOKEN_SCOPES))(value, path)

const createCheck = object({
  ...byWhomShape,
  name: shortText(NAME_LENGTH),
  scopes: scopesCheck,
  tenant: optional(tenantNameCheck),
  expiresIn: optional(duration({ min: 1_000 })),
})

const idCheck = satisfies(
  "the id of a token",
  (value) => typeof value === "string" && /^[0-9a-f]{16}$/.test(value),
)

export const tokenCalls = {
  create: async (opened: Opened, options: TokenOptions): Promise<NewToken> => {
    assertOptions("tokens.create", options, createCheck)
    const { name, scopes, tenant = "", expiresIn } = options
    const request = {
      ...{ name, tenant, by: byOf(opened, options), scopes: [...new Set(scopes)] },
      expiresInMs: parseDuration(expiresIn),
    }
    return perform(opened.engine.tell, createToken(opened.runtime, request))
  },
  list: async ({ runtime }: Opened, options: TokenListOptions = {}): Promise<TokenPage> => {
    assertOptions("tokens.list", options, object(pageShape))
    const { limit = PAGE_LIMIT, cursor } = options
    const { items, next } = await list(runtime, { after: cursorAfter(cursor) ?? "", limit })
    return { items, ...(next !== undefined && { nextCursor: writeCursor([next]) }) }
  },
  revoke: async (opened: Opened, id: string, by: ByWhom = {}): Promise<boolean> => {
    assertOptions("tokens.revoke", { id }, object({ id: idCheck }))
    assertOptions("tokens.revoke", by, byWhomCheck)
    return perform(opened.engine.tell, revoke(opened.runtime, { id, by: byOf(opened, by) }))
  },
  /** The text may be anything. A misspelt token is as good as none. */
  verify: async ({ runtime }: Opened, token: string): Promise<VerifiedToken | undefined> =>
    verify(runtime, String(token)),
}
