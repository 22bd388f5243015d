import { readdirSync, readFileSync } from "node:fs"
import { defineConfig } from "vitest/config"
import { LongestFirst } from "./test/support/longest-first.ts"

/** Suites that need nothing but Node. Those that leave nothing behind share what they import. */
const pure = (name: string, include: string[], isolate = true) => ({
  test: { name, include, testTimeout: 30_000, isolate },
})

/** Suites that need PostgreSQL servers, which are started once for all of them, and which of these they run on. */
const withServers = (
  name: string,
  include: string[],
  engines: "all" | "newest" | "oldest" | "hostile",
  testTimeout = 30_000,
) => ({
  test: {
    name,
    include,
    env: { CARILLON_ENGINES: engines },
    // Some files have nothing for the oldest.
    passWithNoTests: engines === "oldest",
    globalSetup: "test/support/servers.ts",
    setupFiles: "test/support/database-per-file.ts",
    isolate: false,
    testTimeout,
    hookTimeout: 60_000,
  },
})

/** Those that run on every version of PostgreSQL that there is for them. */
const onEveryEngine = () =>
  ["test/store", "test/spec"]
    .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
    .filter((file) => /describeEngines\(|"postgres14"/.test(readFileSync(file, "utf8")))

const long = process.env["CARILLON_LONG"] === "1"

export default defineConfig({
  // Node 20 does not know `await using` yet.
  oxc: { target: "node20" },
  test: {
    // Most tests wait for a server or another process: two at once are faster, also on two cores.
    maxWorkers: 2,
    maxConcurrency: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      pure("architecture", ["test/architecture.test.ts"]),
      pure(
        "unit",
        [
          "src/**/*.test.ts",
          "test/{docs,planted,lint}.test.ts",
          "test/{time,history,mutants,types}/**/*.test.ts",
          "bench/**/*.test.mjs",
        ],
        false,
      ),
      // PGlite, in virtual time.
      pure("sim", ["test/sim/**/*.test.ts"]),
      // Not a part of `npm test`, which would take too long: `test:long`, `test:oldest` and `test:hostile` run them.
      ...(long
        ? [
            withServers("long", ["test/long/**/*.test.ts"], "all"),
            withServers("oldest", onEveryEngine(), "oldest"),
            withServers("hostile", ["test/{store,spec}/**/*.test.ts"], "hostile"),
          ]
        : []),
      // A browser on a busy machine is slow.
      withServers("dashboard", ["test/dashboard/**/*.test.ts"], "newest", 90_000),
      withServers("postgres", ["test/{store,spec,http,crash,package}/**/*.test.ts"], "newest"),
    ],
  },
})
