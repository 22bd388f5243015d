/** The error codes that only HTTP has. They are a part of the table of all codes. */

export const HTTP_ERRORS = {
  NOT_FOUND: {
    means: "There is nothing at this path: no such route, pool, worker or group.",
    todo: "Check the path and the name in it. `/docs` lists the routes.",
    retryable: false,
  },
  METHOD_NOT_ALLOWED: {
    means: "The path exists, but not with this HTTP method.",
    todo: "Use one of the methods in the `Allow` header.",
    retryable: false,
  },
  BODY_INVALID: {
    means: "The body of the request is not JSON in UTF-8, or is nested too deeply.",
    todo: "Send one JSON object.",
    retryable: false,
  },
  BODY_TOO_LARGE: {
    means: "The body of the request is larger than the route accepts.",
    todo: "Send less in one request: fewer items, or a reference to the data.",
    retryable: false,
  },
  MEDIA_TYPE: {
    means: "The body of the request is not declared as JSON, or is compressed.",
    todo: "Send `Content-Type: application/json`, and no `Content-Encoding`.",
    retryable: false,
  },
  PRECONDITION_FAILED: {
    means: "What the request is about is not as `If-Match` or `If-None-Match` says.",
    todo: "Read it again, compare, and repeat the change with the new `ETag` if you still want it.",
    retryable: false,
  },
  PRECONDITION_REQUIRED: {
    means: "The change has to name the version that it is based on, so that it overwrites no other change.",
    todo: "Read it first, and send its `ETag` as `If-Match`.",
    retryable: false,
  },
  TENANT_BOUND: {
    means: "The token is bound to a tenant, and the request is about another one or about all of them.",
    todo: "Leave `tenant` out, or use a token without a tenant.",
    retryable: false,
  },
  TOKEN_MISSING: {
    means: "The request has no token.",
    todo: "Send `Authorization: Bearer carillon_...`. `carillon.tokens.create` makes a token.",
    retryable: false,
  },
  TOKEN_INVALID: {
    means: "The token is unknown, revoked or expired.",
    todo: "Check that it was copied whole, or make another.",
    retryable: false,
  },
  TOKEN_FAILURES: {
    means: "Too many requests with wrong tokens came from this address.",
    todo: "Correct the token, and wait a minute.",
    retryable: true,
  },
  SCOPE_MISSING: {
    means: "The token is valid, and may not do this.",
    todo: "Use a token with the scope that the message names.",
    retryable: false,
  },
  ORIGIN_REFUSED: {
    means: "A browser sent the request for another website.",
    todo: "Send it from a page of this server, or with a token in `Authorization`.",
    retryable: false,
  },
  HOST_REFUSED: {
    means:
      "The `Host` header names another host than this server has. This stops websites that rebind their DNS name.",
    todo: "Use the address that the server printed, or allow the name with the option `hosts`.",
    retryable: false,
  },
  NOT_READY: {
    means: "The process is draining, or the database or its schema is not ready.",
    todo: "Send requests to another process, or wait.",
    retryable: true,
  },
  INTERNAL: {
    means: "The server failed in a way that it does not know. Its log has the error.",
    todo: "Look for `requestId` in the log of the server, and report the error.",
    retryable: false,
  },
  HTTP_PACKAGES_MISSING: {
    means: "`carillon/http` needs packages that are not installed.",
    todo: "Install without `--omit=optional`, or run `npm install hono @hono/zod-openapi zod`.",
    retryable: false,
  },
} as const
