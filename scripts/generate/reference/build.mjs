// Compiles src to a temporary folder, because dist may be old or in use.
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"

export async function buildSources(root) {
  const cache = fileURLToPath(new URL(".cache/", root))
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(`${cache}reference-`)
  const tsc = fileURLToPath(new URL("node_modules/typescript/bin/tsc", root))
  const options = ["--outDir", folder, "--tsBuildInfoFile", `${folder}/.tsbuildinfo`]
  await promisify(execFile)(process.execPath, [tsc, "-p", "tsconfig.build.json", ...options], {
    cwd: fileURLToPath(root),
  }).catch((error) => {
    throw new Error(`src does not compile:\n${error.stdout}`, { cause: error })
  })
  return {
    folder: pathToFileURL(`${folder}/`),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
