type Row = Readonly<Record<string, unknown>>

/** The schema as SQL, the same for every version of PostgreSQL and every schema name. */
export function dumpSchema(ask: (query: string) => Promise<Row[]>, schema: string): Promise<string>
