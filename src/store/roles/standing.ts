/**
 * What the role of this process may do in the schema, and the errors that say what it lacks and which role can grant
 * it.
 */
import { CarillonError, DatabaseError } from "../../errors.ts"
import type { Database } from "../database.ts"
import { describeRole } from "./describe.ts"
import { listMissingPrivileges } from "./list-missing.ts"
import { PRIVILEGES, type Privilege } from "./privileges.ts"

/** Did the server refuse for lack of a privilege? */
export function isForbidden(error: unknown): boolean {
  return error instanceof DatabaseError && error.sqlState === "42501"
}

/**
 * Checks that the role has every privilege that Carillon needs. The error says what is missing and which command grants
 * it.
 */
export async function assertPrivileges(database: Database): Promise<void> {
  const missing = await database.run(listMissingPrivileges, {
    schema: database.schema,
    kinds: PRIVILEGES.map(({ kind }) => kind),
    names: PRIVILEGES.map(({ name }) => name),
    privileges: PRIVILEGES.map(({ privilege }) => privilege),
  })
  if (missing.length === 0) return
  const { role, owner } = await describe(database)
  throw new CarillonError(
    "PRIVILEGES_MISSING",
    `Role "${role}" may not work in schema "${database.schema}". It lacks: ${inWords(missing as Privilege[])}. ` +
      `${ownerWords(owner)} can grant all of it: \`${grantCommand(database.schema, role)}\`.`,
  )
}

/** Checks that the role may migrate. The error says which role has to. `current` is the version of the schema. */
export async function assertMayMigrate(
  database: Database,
  versions: { readonly current: number; readonly wanted: number },
): Promise<void> {
  const { role, owner, may_migrate: mayMigrate } = await describe(database)
  if (!mayMigrate) throw mayNotMigrate(database.schema, { role, owner, ...versions })
}

interface Refusal {
  readonly role: string
  readonly owner: string | null
  readonly current: number
  readonly wanted: number
}

function mayNotMigrate(schema: string, { role, owner, current, wanted }: Refusal): CarillonError {
  const at = schema === "carillon" ? "" : ` --schema ${schema}`
  const migrate = `carillon db migrate --database <the URL of that role>${at}`
  const message =
    owner === null
      ? `There is no schema "${schema}", and role "${role}" may not create one. Have a role that may do it first: ` +
        `\`${migrate}\`, then \`${grantCommand(schema, role)}\`.`
      : `Schema "${schema}" is at version ${current}, this version of Carillon needs ${wanted}, and role "${role}" ` +
        `may not migrate it. ${ownerWords(owner)} has to: \`${migrate}\`, then \`${grantCommand(schema, role)}\`.`
  return new CarillonError("MIGRATION_FORBIDDEN", message)
}

async function describe(database: Database) {
  const [described] = await database.run(describeRole, { schema: database.schema })
  if (!described) throw new Error("a role describes itself in one row")
  return described
}

function ownerWords(owner: string | null): string {
  return owner === null ? "The owner" : `Its owner, role "${owner}",`
}

function grantCommand(schema: string, role: string): string {
  const at = schema === "carillon" ? "" : ` --schema ${schema}`
  return `carillon db grant --role ${role}${at}`
}

/** For example "usage of the schema; select, insert on runs; execute on make_day". */
function inWords(missing: readonly Privilege[]): string {
  const byObject = new Map<string, string[]>()
  for (const { kind, name, privilege } of missing) {
    const object = kind === "schema" ? "the schema" : name
    byObject.set(object, [...(byObject.get(object) ?? []), privilege])
  }
  return [...byObject].map(([object, privileges]) => `${privileges.join(", ")} on ${object}`).join("; ")
}
