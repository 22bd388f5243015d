/** Finds out whether the embedded server can run here, before anything is prepared for it. */
import { join } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { locateBinaries } from "../embedded/binaries.ts"
import { runTool } from "../embedded/tool.ts"

/**
 * Reports that there are no binaries for this platform; `undefined` if there are. Binaries may exist and still not
 * run, as on musl; only a try tells. It takes about ten milliseconds.
 */
export async function whyNotEmbedded(host: Host): Promise<CarillonError | undefined> {
  try {
    const folder = await locateBinaries(host, undefined)
    // In the folder of the program: a missing temporary folder would look like a missing program.
    const here = { cwd: join(folder, "bin"), account: undefined }
    await runTool(host, join(folder, "bin/postgres"), ["--version"], here)
    return undefined
  } catch (error) {
    return error instanceof CarillonError && error.code === "EMBEDDED_UNSUPPORTED" ? error : undefined
  }
}
