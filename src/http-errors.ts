/** The error codes that only HTTP has. They are a part of the table of all codes. */

export const HTTP_ERRORS = {
  NOT_FOUND: {
    means: "There is nothing at this path: no such route, pool, worker or group.",
    todo: "Check the path and the name in it. `/docs` lists the routes.",
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
