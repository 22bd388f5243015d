// Dumps a schema from PostgreSQL's catalogs as readable SQL that tests can compare.
//
// The dump is the same for every version of PostgreSQL and every schema name. It leaves out the daily partitions.

/** The kinds of relations that the dump supports besides tables. */
const KNOWN = ["r", "p", "i", "I"]

/**
 * The schema as SQL. `ask` runs a query and returns its rows as objects.
 */
export async function dumpSchema(ask, schema) {
  const namespace = `'${schema.replaceAll("'", "''")}'`
  const [strange] = await ask(strangers(namespace))
  if (strange)
    throw new Error(
      `The schema dump does not support ${strange.name}. Extend scripts/generate/schema-dump.mjs.`,
    )
  const functions = await ask(FUNCTIONS(namespace))
  const tables = await ask(TABLES(namespace))
  const inWords = ({ definition }) => `${definition.trim()};`
  const parts = functions.filter(({ ofRows }) => !ofRows).map(inWords)
  for (const table of tables) {
    const members = [...(await ask(COLUMNS(table.oid))), ...(await ask(CONSTRAINTS(table.oid)))]
    const indexes = await ask(INDEXES(table.oid))
    const identity = table.isIdentifiedByAll
      ? [`ALTER TABLE carillon.${table.name} REPLICA IDENTITY FULL;`]
      : []
    const lines = indexes.map(({ definition }) => `${definition};`)
    parts.push([createTable(table, members), ...lines, ...identity].join("\n"))
  }
  parts.push(...functions.filter(({ ofRows }) => ofRows).map(inWords))
  const [{ quoted }] = await ask(`select pg_catalog.quote_ident(${namespace}) as quoted`)
  // The search path of a function has the schema name as a string.
  const named = parts
    .join("\n\n")
    .replaceAll(`${quoted}.`, "carillon.")
    .replaceAll(`${namespace},`, "'carillon',")
  return `${named}\n`
}

function createTable({ name, partitioned, options }, members) {
  const lines = members.map(({ line }) => `  ${line}`).join(",\n")
  const clauses = [partitioned && `PARTITION BY ${partitioned}`, options && `WITH (${options})`].filter(
    Boolean,
  )
  return `CREATE TABLE carillon.${name} (\n${lines}\n)${clauses.map((clause) => ` ${clause}`).join("")};`
}

const FUNCTIONS = (namespace) => `
  select pg_get_functiondef(p.oid) as definition, p.pronargs > 0 as "ofRows"
  from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
  where n.nspname = ${namespace}
  order by p.proname, pg_get_function_identity_arguments(p.oid)`

const TABLES = (namespace) => `
  select c.oid::text, quote_ident(c.relname) as name, array_to_string(c.reloptions, ', ') as options,
    case when c.relkind = 'p' then pg_get_partkeydef(c.oid) end as partitioned,
    c.relreplident = 'f' as "isIdentifiedByAll"
  from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = ${namespace} and c.relkind in ('r', 'p') and not c.relispartition
  order by c.relname`

const COLUMNS = (table) => `
  select quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
    || coalesce(
      case when a.attgenerated = 's' then ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED'
        else ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) end, '')
    || case when a.attnotnull then ' NOT NULL' else '' end as line
  from pg_attribute as a left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = ${table} and a.attnum > 0 and not a.attisdropped
  order by a.attnum`

/** Leaves out NOT NULL constraints: only newer versions list them here, and the columns show them. */
const CONSTRAINTS = (table) => `
  select 'CONSTRAINT ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid) as line
  from pg_constraint
  where conrelid = ${table} and contype <> 'n'
  order by contype = 'p' desc, conname`

/** Leaves out the indexes of constraints. */
const INDEXES = (table) => `
  select pg_get_indexdef(i.indexrelid) as definition
  from pg_index as i join pg_class as c on c.oid = i.indexrelid
  where i.indrelid = ${table}
    and not exists (select from pg_constraint where conindid = i.indexrelid)
  order by c.relname`

function strangers(namespace) {
  const kinds = KNOWN.map((kind) => `'${kind}'`).join(", ")
  return `
  select c.relname as name
  from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = ${namespace} and c.relkind not in (${kinds})
  union all
  select t.tgname
  from pg_trigger as t join pg_class as c on c.oid = t.tgrelid join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = ${namespace} and not t.tgisinternal
  union all
  select t.typname
  from pg_type as t join pg_namespace as n on n.oid = t.typnamespace
  where n.nspname = ${namespace} and t.typtype in ('d', 'e', 'r')`
}
