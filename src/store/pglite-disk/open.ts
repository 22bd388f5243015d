/**
 * Opens PGlite on disk, for this process alone.
 *
 * It promises less than a server: one process, and no fsync, because its file system has none, whatever the settings
 * say. A commit reaches the operating system. It survives the death of the process and not a power failure.
 *
 *     <data folder>/pglite/              the data
 *                   pglite.new-<id>      incomplete data; the next start removes it
 *                   pglite-owner-<n>.json the process that has it open
 *                   pglite-<id>.sock     the sign that this process is alive
 */
import type { Host } from "../../runtime/host.ts"
import type { Database } from "../database.ts"
import { createPglite, openPglite } from "../pglite.ts"
import { ensurePglite } from "./creation.ts"
import { openDataFolder } from "./data-folder.ts"
import { pgliteFailed } from "./failure.ts"
import { type FolderLock, lockFolder } from "./folder-lock.ts"
import { createHousekeeping } from "./housekeeping.ts"

export interface DiskOptions {
  readonly schema: string
  /** @default ".carillon" in the working directory */
  readonly dataDir: string | undefined
}

export interface PgliteOnDisk {
  readonly database: Database
  /** The path of the data. */
  readonly folder: string
}

export async function openPgliteOnDisk(host: Host, options: DiskOptions): Promise<PgliteOnDisk> {
  const dataFolder = await openDataFolder(host, options.dataDir)
  try {
    const lock = await lockFolder(host, dataFolder)
    return await openLocked(host, { dataFolder, lock, schema: options.schema }).catch(async (error) => {
      await lock.release()
      throw error
    })
  } catch (error) {
    throw pgliteFailed(`PGlite in ${dataFolder} could not be opened`, error)
  }
}

interface Locked {
  readonly dataFolder: string
  readonly lock: FolderLock
  readonly schema: string
}

async function openLocked(host: Host, { dataFolder, lock, schema }: Locked): Promise<PgliteOnDisk> {
  const folder = await ensurePglite(host, dataFolder)
  const instance = await createPglite(folder)
  const database = await openPglite(host, { schema, instance })
  const housekeeping = createHousekeeping(database, instance)
  const close = async () => {
    await database.close()
    await housekeeping.settled()
    await instance.close().finally(lock.release)
  }
  let closing: Promise<void> | undefined
  return {
    folder,
    database: {
      ...database,
      abilities: { ...database.abilities, inherits: true },
      run: (statement, params, call) => database.run(statement, params, call).finally(housekeeping.called),
      transaction: (body, call) => database.transaction(body, call).finally(housekeeping.called),
      close: () => {
        closing ??= close()
        return closing
      },
    },
  }
}
