/** Opens the database of a command, and closes it when the command is done. */
import { type Carillon, createCarillonOn } from "../api/carillon.ts"
import type { CommandCall } from "./command.ts"
import { chosenDatabaseOf } from "./settings/database.ts"

export async function withDatabase(
  call: CommandCall,
  use: (carillon: Carillon) => Promise<string>,
): Promise<void> {
  const carillon = createCarillonOn(call.host, await chosenDatabaseOf(call))
  try {
    call.terminal.print(await use(carillon))
  } finally {
    await carillon.stop()
  }
}
