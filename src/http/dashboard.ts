/**
 * Serves the built dashboard from any path.
 *
 * The page addresses everything relative to its `<base>`, which is written for the depth of each request. So it also
 * works behind a proxy that removes a prefix that this process never sees.
 */
import { readdir, readFile } from "node:fs/promises"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

export interface DashboardFiles {
  /** Answers a request for a page or an asset. `path` begins with a slash and has no base path. */
  readonly answer: (path: string, request: Request) => Response | undefined
}

interface Asset {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly zipped: Uint8Array<ArrayBuffer>
}

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
}

/** The page runs its own files, speaks to its own origin, and nothing else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  Vary: "Accept-Encoding",
} as const

/** The names of assets contain their hash, so a name never changes its content. */
const FOREVER = "public, max-age=31536000, immutable"

const zip = promisify(gzip)

/** Where the build puts the dashboard: beside this file when that is compiled, in `dist` when it runs from source. */
function builtFolder(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "../../dist/dashboard/" : "../dashboard/", import.meta.url)
}

/** Reads the built files. `undefined` if the dashboard has not been built. */
export async function loadDashboard(folder = builtFolder()): Promise<DashboardFiles | undefined> {
  const page = await readFile(new URL("index.html", folder), "utf8").catch(() => undefined)
  if (page === undefined) return undefined
  const names = await readdir(new URL("assets/", folder))
  const assets = new Map<string, Asset>()
  for (const name of names) {
    const bytes = new Uint8Array(await readFile(new URL(`assets/${name}`, folder)))
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream"
    assets.set(`/assets/${name}`, { type, bytes, zipped: new Uint8Array(await zip(bytes)) })
  }
  return {
    answer: (path, request) => {
      if (request.method !== "GET" && request.method !== "HEAD") return undefined
      const asset = assets.get(path)
      if (asset) return assetResponse(asset, request)
      if (path.startsWith("/assets/") || !wantsPage(request)) return undefined
      return pageResponse(page, path)
    },
  }
}

/** A browser that opens an address asks for HTML; a client of the API does not. */
function wantsPage({ headers }: Request): boolean {
  return headers.get("Accept")?.includes("text/html") ?? false
}

function pageResponse(page: string, path: string): Response {
  const depth = Math.max(0, path.split("/").length - 2)
  const base = depth === 0 ? "./" : "../".repeat(depth)
  return new Response(page.replace('<base href="./" />', `<base href="${base}" />`), {
    headers: { ...HEADERS, "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache" },
  })
}

function assetResponse({ type, bytes, zipped }: Asset, { headers }: Request): Response {
  const takesZip = /\bgzip\b/.test(headers.get("Accept-Encoding") ?? "")
  return new Response(takesZip ? zipped : bytes, {
    headers: {
      ...HEADERS,
      "Content-Type": type,
      "Cache-Control": FOREVER,
      ...(takesZip && { "Content-Encoding": "gzip" }),
    },
  })
}
