// Writes all generated files. `npm run verify` fails if that changes one.
import { writeReport } from "../bench/report.mjs"
import { generateMigrations } from "./generate/migrations.mjs"
import { generateReference } from "./generate/reference.mjs"
import { generateReliability } from "./generate/reliability.mjs"
import { generateSchema } from "./generate/schema.mjs"

await generateMigrations()
await generateReference()
await generateSchema()
await generateReliability()
writeReport()
