/** Finds out whether the embedded server could run here, before anything is prepared for it. */
import { join } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { locateBinaries } from "../embedded/binaries.ts"
import { runTool } from "../embedded/tool.ts"

/**
 * Says that there are no binaries for this platform; `undefined` if there are, whatever may be wrong with them. They may
 * be there and not run, as on musl, and only trying tells. It takes some ten milliseconds.
 */
export async function whyNotEmbedded(host: Host): Promise<CarillonError | undefined> {
  try {
    const folder = await locateBinaries(host, undefined)
    // Where it is: a temporary folder may be missing, and the system's answer would sound like a missing program.
    const here = { cwd: join(folder, "bin"), account: undefined }
    await runTool(host, join(folder, "bin/postgres"), ["--version"], here)
    return undefined
  } catch (error) {
    return error instanceof CarillonError && error.code === "EMBEDDED_UNSUPPORTED" ? error : undefined
  }
}
