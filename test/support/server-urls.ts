/**
 * The URLs of the servers, for the tests of one file. Each file has a database of its own: catalogs get slower with
 * every schema, and a suite needs a schema for every test.
 *
 * Test files share their imports, this module too: database-per-file.ts fills it in before each of them.
 */
export type Version = "postgres14" | "postgres18"

/** A URL is empty where there are no binaries of that version. */
export const SERVER_URLS: Record<Version, string> = { postgres14: "", postgres18: "" }
