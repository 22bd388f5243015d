// Runs a TypeScript file on every supported Node: `node scripts/run-ts.mjs FILE ARGUMENTS`.
import { resolve } from "node:path"
import { runnerImport } from "vite"

const [node, , file, ...rest] = process.argv
process.argv = [node, file, ...rest]
await runnerImport(resolve(file), { logLevel: "error", configFile: false })
