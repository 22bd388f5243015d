/** The types of values after a round trip through JSON. `payload.ts` makes the same checks at run time. */

import type { Mistake } from "../options/mistake.ts"

declare const unkept: unique symbol

/** Stands for a value that JSON cannot store. A payload that contains one is rejected. */
export interface NotJson<What extends string> {
  readonly [unkept]: What
}

type Kept = string | number | boolean | null

/**
 * The type of a value after a round trip through JSON. A `Date` becomes a string, methods and symbol keys disappear,
 * and values that JSON cannot store become `NotJson`. A type that JSON does not change keeps its name.
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
              ? NotJson<"an object that JSON stores as {}">
              : T extends readonly unknown[]
                ? { [Index in keyof T]: InArray<T[Index]> }
                : T extends object
                  ? { [Key in keyof T as KeyOf<Key, T[Key]>]: JsonOf<T[Key]> }
                  : T

/** Objects whose contents are not in properties: JSON would store `{}`. */
type Emptied =
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | WeakSet<WeakKey>
  | PromiseLike<unknown>
  | RegExp
  | ArrayBuffer
  | ArrayBufferView

/** JSON has no undefined. An object drops the key; an array with undefined is rejected. */
type InArray<T> = unknown extends T
  ? T
  : T extends undefined
    ? NotJson<"undefined inside an array">
    : JsonOf<T>

/** Drops symbol keys and methods. */
type KeyOf<Key, Value> = Key extends symbol ? never : IsDropped<Value> extends true ? never : Key

type IsDropped<Value> = unknown extends Value
  ? false
  : [Value] extends [((...args: never[]) => unknown) | undefined]
    ? [Value] extends [never]
      ? false
      : true
    : false

/** The type of `result()`. A missing result is null, unless the handler never returns one. */
export type ResultOf<Output> = [Output] extends [Nothing]
  ? Output
  : Output extends Nothing
    ? null
    : Jsonified<Output>

// biome-ignore lint/suspicious/noConfusingVoidType: the return type of handlers without a result.
type Nothing = void | undefined

/** `Mistake` if JSON changes the input, otherwise "kept". */
export type InputFault<Input, Advice extends string> = [Jsonified<Input>, 0] extends [Input, 0]
  ? "kept"
  : Mistake<`${Named<ChangedKey<Input>>} is different after JSON (a Date becomes a string): ${Advice}`>

/** `Mistake` if JSON cannot store the result, otherwise "kept". */
export type ResultFault<Output> = [Jsonified<Output>, 0] extends [Sound<Jsonified<Output>>, 0]
  ? "kept"
  : Mistake<`${Named<UnsoundKey<Jsonified<Output>>>} cannot be stored as JSON`>

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
