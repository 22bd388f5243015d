/** The types of record.mjs, which has none of its own because processes under test run it without a build. */
import type { OperationName, OperationOf } from "./operations.ts"

export interface Recorder {
  readonly file: string
  /** Appends one line and returns when the kernel has it. Integers of 64 bits may be given as they are. */
  readonly record: <Name extends OperationName>(
    op: Name,
    data: { readonly [Field in keyof Omit<OperationOf<Name>, "op">]: Recorded<OperationOf<Name>[Field]> },
  ) => void
  readonly close: () => void
}

type Recorded<Value> = Value extends string ? Value | bigint : Value

/** Opens a new file for this process in `folder`, which is created if need be. */
export function openRecorder(folder: string, name?: string): Recorder
