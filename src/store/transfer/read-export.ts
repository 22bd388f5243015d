/** Reads the file of an export. It refuses anything but what an export writes, in its order and to its end. */
import { createReadStream } from "node:fs"
import { pipeline } from "node:stream"
import { createGunzip } from "node:zlib"
import { CarillonError } from "../../errors.ts"
import {
  countRows,
  decodeJson,
  type ExportHeader,
  type ExportTrailer,
  FORMAT,
  FORMAT_VERSION,
  type TableCount,
} from "./export-content.ts"
import { type Frame, type FrameKind, readFrames } from "./frames.ts"

export interface ExportSource {
  readonly file: string
  /** Aborts the reading with an error. */
  readonly signal?: AbortSignal | undefined
}

export interface ExportReader {
  readonly onHeader: (header: ExportHeader) => Promise<void>
  /** Consumes all rows of a table. */
  readonly onTable: (name: string, rows: AsyncIterable<Uint8Array>) => Promise<void>
}

/** Reads the file once. When it resolves, the file was whole. Returns the number of rows of each table. */
export async function readExport(
  { file, signal }: ExportSource,
  reader: ExportReader,
): Promise<readonly TableCount[]> {
  const invalid = (problem: string, cause?: unknown) =>
    new CarillonError("EXPORT_INVALID", `${file} cannot be imported: ${problem}.`, { cause })
  const frames = readFrames(unzip({ file, signal }, invalid), invalid)

  async function next(...kinds: readonly FrameKind[]): Promise<Frame> {
    const { value, done } = await frames.next()
    if (done) throw invalid("it was cut off")
    if (!kinds.includes(value.kind)) throw invalid("its parts are not in their order")
    return value
  }

  const header = decodeJson<ExportHeader>((await next("H")).body)
  if (header.format !== FORMAT || header.formatVersion > FORMAT_VERSION) {
    const by = `Carillon ${header.madeBy}`
    throw invalid(
      `it has a format of ${by} that this version does not know. Import it with at least that version`,
    )
  }
  await reader.onHeader(header)
  const counts: TableCount[] = []
  let frame = await next("T", "Z")

  async function* rowsOf(count: (rows: number) => void): AsyncGenerator<Uint8Array> {
    for (frame = await next("D", "T", "Z"); frame.kind === "D"; frame = await next("D", "T", "Z")) {
      count(countRows(frame.body))
      yield frame.body
    }
  }

  while (frame.kind === "T") {
    const { name } = decodeJson<{ name: string }>(frame.body)
    if (name !== header.tables[counts.length]?.name) throw invalid("its parts are not in their order")
    let rows = 0
    const data = rowsOf((more) => {
      rows += more
    })
    await reader.onTable(name, data)
    counts.push({ name, rows })
  }
  const trailer = decodeJson<ExportTrailer>(frame.body)
  if (JSON.stringify(trailer.tables) !== JSON.stringify(counts)) throw invalid("rows are missing in it")
  if (counts.length !== header.tables.length) throw invalid("tables are missing in it")
  if (!(await frames.next()).done) throw invalid("something follows its end")
  return counts
}

/** Reads the file to its end, only to check it. */
export async function verifyExport(source: ExportSource): Promise<void> {
  await readExport(source, {
    onHeader: async () => {},
    onTable: async (_, rows) => {
      for await (const _chunk of rows);
    },
  })
}

async function* unzip(
  { file, signal }: ExportSource,
  invalid: (problem: string, cause: unknown) => CarillonError,
): AsyncGenerator<Uint8Array> {
  const bytes = createGunzip()
  pipeline(createReadStream(file, { signal }), bytes, () => {})
  try {
    yield* bytes
  } catch (error) {
    throw invalid(problemOf(error), error)
  }
}

function problemOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === "Z_BUF_ERROR") return "it was cut off"
  if (code?.startsWith("Z_")) return "it is not an export of Carillon, or was altered"
  return message
}
