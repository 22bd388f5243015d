/** An input for a stored run: as JSON, checked by the schema of its job if this process has the job. */
import { DEFAULTS } from "../../defaults.ts"
import { encodePayload } from "../../job/payload.ts"
import type { Opened } from "../application.ts"

export async function encodedInput({ engine }: Opened, job: string, value: unknown): Promise<string> {
  const input = encodePayload(value, "input", DEFAULTS.inputBytes)
  await engine.jobs.get(job)?.parse(input)
  return input
}
