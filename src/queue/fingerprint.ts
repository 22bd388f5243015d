/** Groups similar errors: the fingerprint leaves out numbers, ids and quoted texts, which differ between runs. */
import type { ErrorRecord } from "./error-record.ts"

const LENGTH = 200

export function fingerprintOf({ code, message }: ErrorRecord): string {
  const shape = message
    .slice(0, 4 * LENGTH)
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, "#")
    .replace(/\b(0x)?[0-9a-f]*\d[0-9a-f]*\b/gi, "#")
    .replace(/"[^"]*"|'[^']*'/g, "…")
  return `${code ?? ""}:${shape}`.slice(0, LENGTH)
}
