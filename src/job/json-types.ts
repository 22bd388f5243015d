/** What JSON makes of a value, for the compiler. `payload.ts` does the same at run time. */

import type { Mistake } from "../options/mistake.ts"

declare const unkept: unique symbol

/** In place of a value that JSON cannot keep: a payload that holds one is refused. */
export interface NotJson<What extends string> {
  readonly [unkept]: What
}

type Kept = string | number | boolean | null

/**
 * The type of a value after it went through JSON: a `Date` is a text, functions and symbols as keys are gone, and what
 * JSON cannot keep is `NotJson`. A type that JSON leaves as it is stays itself, with its name.
 */
export type Jsonified<T> = Same<T, JsonOf<T>>

type Same<T, Json> = [T] extends [Json] ? ([Json] extends [T] ? T : Json) : Json

type JsonOf<T> = unknown extends T
  ? T
  : T extends Kept | undefined
    ? T
    : T extends { toJSON: (...args: never[]) => infer Json }
      ? JsonOf<Json>
      : T extends bigint
        ? NotJson<"a bigint">
        : T extends symbol
          ? NotJson<"a symbol">
          : T extends (...args: never[]) => unknown
            ? NotJson<"a function">
            : T extends Emptied
              ? NotJson<"an object of which JSON would keep nothing">
              : T extends readonly unknown[]
                ? { [Index in keyof T]: InArray<T[Index]> }
                : T extends object
                  ? { [Key in keyof T as KeyOf<Key, T[Key]>]: JsonOf<T[Key]> }
                  : T

/** Their contents are not in properties. */
type Emptied =
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | WeakSet<WeakKey>
  | PromiseLike<unknown>
  | RegExp
  | ArrayBuffer
  | ArrayBufferView

/** JSON has no undefined: an object leaves the key out, and in an array it is refused. */
type InArray<T> = unknown extends T
  ? T
  : T extends undefined
    ? NotJson<"undefined inside an array">
    : JsonOf<T>

/** Methods of a class are no data. */
type KeyOf<Key, Value> = Key extends symbol ? never : IsDropped<Value> extends true ? never : Key

type IsDropped<Value> = unknown extends Value
  ? false
  : [Value] extends [((...args: never[]) => unknown) | undefined]
    ? [Value] extends [never]
      ? false
      : true
    : false

/** What `result()` gives: the absence of a result is null, unless there never is one. */
export type ResultOf<Output> = [Output] extends [Nothing]
  ? Output
  : Output extends Nothing
    ? null
    : Jsonified<Output>

// biome-ignore lint/suspicious/noConfusingVoidType: what handlers return that return nothing.
type Nothing = void | undefined

/** `Mistake` where an input that went through JSON is not what it was, else "kept". */
export type InputFault<Input, Advice extends string> = [Jsonified<Input>, 0] extends [Input, 0]
  ? "kept"
  : Mistake<`${Named<ChangedKey<Input>>} is different after JSON (a Date is a text then): ${Advice}`>

/** `Mistake` where a result holds what JSON cannot keep, else "kept". */
export type ResultFault<Output> = [Jsonified<Output>, 0] extends [Sound<Jsonified<Output>>, 0]
  ? "kept"
  : Mistake<`${Named<UnsoundKey<Jsonified<Output>>>} cannot be kept as JSON`>

type Sound<Json> =
  Json extends NotJson<string>
    ? never
    : Json extends object
      ? { [Key in keyof Json]: Sound<Json[Key]> }
      : Json

type ChangedKey<T> = {
  [Key in keyof T]-?: [Jsonified<T[Key]>, 0] extends [T[Key], 0] ? never : Key
}[keyof T]

type UnsoundKey<Json> = {
  [Key in keyof Json]-?: [Json[Key], 0] extends [Sound<Json[Key]>, 0] ? never : Key
}[keyof Json]

type Named<Key> = [Key] extends [string] ? ([Key] extends [never] ? "it" : `\`${Key}\``) : "it"
