/**
 * Where the servers are, for the tests of one file. Each file has a database of its own: what a server does to its
 * catalogs takes the longer the more there is in one database, and a suite needs a schema for every test.
 *
 * Test files share what they import, this module too: database-per-file.ts fills it in before each of them.
 */
export type Version = "postgres14" | "postgres18"

/** An address is empty where there are no binaries of that version. */
export const SERVER_URLS: Record<Version, string> = { postgres14: "", postgres18: "" }
