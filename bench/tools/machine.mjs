/** On what and with what is measured: no figure means anything without it. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { availableParallelism, cpus, release, tmpdir, totalmem, type } from "node:os"
import { fileURLToPath } from "node:url"

export function describeMachine() {
  const facts = {
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    tzdb: process.versions.tz,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    /** What waits for the disk waits for this. */
    fileSystem: said("df", ["--output=fstype", tmpdir()])?.split("\n").at(-1),
    kernel: `${type()} ${release().split(".").slice(0, 2).join(".")}`,
    carillon: versionOf("../../package.json"),
    commit: commitOf(fileURLToPath(new URL("../..", import.meta.url))),
  }
  const lines = [
    `Carillon ${facts.carillon} (${facts.commit ?? "no commit"}), Node ${facts.node}, tzdb ${facts.tzdb}`,
    `${facts.cpu}, ${facts.cores} cores, ${facts.memoryGb} GB, ${facts.fileSystem}, ${facts.kernel}`,
  ]
  return { facts, lines }
}

/** With a star where more has changed than what was measured before; undefined outside a checkout. */
function commitOf(root) {
  const commit = said("git", ["-C", root, "rev-parse", "--short=8", "HEAD"])
  if (commit === undefined) return undefined
  const changed = said("git", ["-C", root, "status", "--porcelain", "--", "src", "bench", ":!bench/results"])
  return changed === "" ? commit : `${commit}*`
}

function said(program, words) {
  try {
    return execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()
  } catch {
    return undefined
  }
}

/** The version in a package.json, by its path from here. */
export function versionOf(path) {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")).version
}
