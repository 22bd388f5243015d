/**
 * The peers in bench/node_modules, installed on demand from a lock file of their own, and the Node that every contender
 * runs on: some peers need a newer one than Carillon does, so all of them get the same.
 */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const FOLDER = fileURLToPath(new URL("../", import.meta.url))
/** The lock file that was installed last. */
const MARK = `${FOLDER}node_modules/.installed-lock.json`

export const NODE = `${FOLDER}node_modules/node/bin/node`

/** Does nothing when what the lock file says is there already. */
export function installPeers() {
  const lock = readFileSync(`${FOLDER}package-lock.json`, "utf8")
  if (!existsSync(MARK) || readFileSync(MARK, "utf8") !== lock) {
    console.log("Installing the peers into bench/node_modules ...")
    // Not `npm ci`, which refuses a lock file that lacks packages for other platforms than the one it was written on.
    try {
      execFileSync("npm", ["install", "--no-save"], { cwd: FOLDER, stdio: ["ignore", "ignore", "inherit"] })
      writeFileSync(MARK, lock)
    } catch (error) {
      console.error(`MISSING: some of the peers, which could not be installed: ${error.message}`)
    }
  }
  if (!existsSync(NODE)) {
    console.error(`MISSING: ${NODE}, without which nothing can be measured beside the peers`)
  }
}

/** "22.x", as the one that contenders run on says. */
export function nodeVersion() {
  return execFileSync(NODE, ["--version"], { encoding: "utf8" }).trim().slice(1)
}

export function peerVersion(name) {
  return JSON.parse(readFileSync(`${FOLDER}node_modules/${name}/package.json`, "utf8")).version
}
