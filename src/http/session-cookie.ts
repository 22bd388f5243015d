/** The session of a browser: a cookie with the token, which no script can read and no other website can send. */
import { z } from "@hono/zod-openapi"

export const SESSION_COOKIE = "carillon_session"

/** What a browser sends for a cookie. */
export const sessionBody = z.strictObject({ token: z.string() })

/** The token in the cookie of a request. */
export function sessionOf({ headers }: Request): string | undefined {
  const pairs = (headers.get("Cookie") ?? "").split(";").map((pair) => pair.trim())
  const own = pairs.find((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
  return own?.slice(SESSION_COOKIE.length + 1) || undefined
}

/** The cookie with a token. It ends with the browser. Without a token, it ends now. */
export function sessionCookie(request: Request, basePath: string, token?: string): string {
  const isSecure =
    request.url.startsWith("https:") || request.headers.get("X-Forwarded-Proto")?.startsWith("https") === true
  return [
    `${SESSION_COOKIE}=${token ?? ""}`,
    `Path=${basePath === "" ? "/" : basePath}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(isSecure ? ["Secure"] : []),
    ...(token === undefined ? ["Max-Age=0"] : []),
  ].join("; ")
}
