/** A job that writes into a table of the application, for tests of what commits together. */
import { onTestFinished } from "vitest"
import { defineJob, type HandlerTransaction, type JobContext } from "../../src/index.ts"
import { execute, rowsOf } from "./sql.ts"
import type { WatchedApp, WatchedKit } from "./watched-app.ts"

/** A job whose handler is the test's, and a table for its effects. */
export async function openBooking(
  kit: WatchedKit,
  run: (ctx: JobContext, book: Book) => Promise<unknown>,
  settings = {},
) {
  const book: Book = (tx, what) =>
    tx.query(`insert into "${app.database.schema}".effects values ($1) returning what`, [what])
  const job = defineJob({
    name: "booking",
    retry: { attempts: 3, delay: 0 },
    ...settings,
    run: (_: undefined, ctx): Promise<unknown> => run(ctx, book),
  })
  const app: WatchedApp = await kit.app({ jobs: [job] })
  onTestFinished(() => app.close())
  await execute(app.database, "create table {effects} (what text)")
  const effects = async () =>
    (await rowsOf(app.database, "select what from {effects}")).map(({ what }) => what)
  return { app, job, effects }
}

export type Book = (tx: HandlerTransaction, what: string) => ReturnType<HandlerTransaction["query"]>
