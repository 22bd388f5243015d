type Row = Readonly<Record<string, unknown>>

/** The schema as SQL: comparable between versions of PostgreSQL and names of the schema. */
export function dumpSchema(ask: (query: string) => Promise<Row[]>, schema: string): Promise<string>
