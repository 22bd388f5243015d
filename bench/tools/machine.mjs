/** On what and with what is measured: no figure means anything without it. */
import { readFileSync } from "node:fs"
import { availableParallelism, cpus, totalmem } from "node:os"

export function describeMachine() {
  const facts = {
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    tzdb: process.versions.tz,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    carillon: versionOf("../../package.json"),
  }
  const lines = [
    `Carillon ${facts.carillon}, Node ${facts.node}, tzdb ${facts.tzdb}`,
    `${facts.cpu}, ${facts.cores} cores, ${facts.memoryGb} GB`,
  ]
  return { facts, lines }
}

/** The version in a package.json, by its path from here. */
export function versionOf(path) {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")).version
}
