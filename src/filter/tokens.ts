/**
 * Takes the text of a filter apart into terms, without knowing any field.
 *
 * Every part keeps its position, so that a fault can point at it. After a fault the scan goes on with the next term, so
 * that all faults are found at once.
 */

/** One thing that is wrong, at a character counted from 0. `field` is the name as it was written. */
export interface TextFault {
  readonly position: number
  readonly field: string
  readonly message: string
}

export interface RawTerm {
  readonly position: number
  readonly not: boolean
  /** The name as it was written, and its steps: `input.a."b c"` has three. */
  readonly name: string
  readonly steps: readonly string[]
  readonly namePosition: number
  readonly operator: RawOperator
  readonly operatorPosition: number
  readonly values: readonly RawValue[]
}

export interface RawValue {
  readonly position: number
  readonly text: string
  readonly isPrefix: boolean
}

const OPERATORS = [">=", "<=", "!=", ":", "=", ">", "<"] as const
export type RawOperator = (typeof OPERATORS)[number]

export function scanTerms(text: string): { readonly terms: RawTerm[]; readonly faults: TextFault[] } {
  const terms: RawTerm[] = []
  const faults: TextFault[] = []
  let at = skipSpace(text, 0)
  while (at < text.length) {
    const scan: Scan = { text, at }
    const term = readTerm(scan)
    if (scan.fault) {
      faults.push({ ...scan.fault, field: wordAt(text, at) })
      scan.at = endOfTerm(text, Math.max(scan.at, at + 1))
    } else if (term) {
      terms.push(term)
    }
    at = skipSpace(text, scan.at)
  }
  return { terms, faults }
}

/** Where the scan is. The first fault ends the term. */
interface Scan {
  readonly text: string
  at: number
  fault?: { readonly position: number; readonly message: string }
}

function refuse(scan: Scan, position: number, message: string): void {
  scan.fault ??= { position, message }
}

function readTerm(scan: Scan): RawTerm | undefined {
  const position = scan.at
  const not = scan.text[scan.at] === "-"
  if (not) scan.at += 1
  const namePosition = scan.at
  const steps = readName(scan)
  const name = scan.text.slice(namePosition, scan.at)
  const operatorPosition = scan.at
  const operator = OPERATORS.find((one) => scan.text.startsWith(one, scan.at))
  if (name === "") refuse(scan, namePosition, "expected the name of a field")
  if (!operator) refuse(scan, namePosition, bareWord(name))
  if (scan.fault || !operator) return undefined
  scan.at += operator.length
  const values = readValues(scan, name, operator)
  return { position, not, name, steps, namePosition, operator, operatorPosition, values }
}

/** Steps are parted by dots. A step in quotes may hold anything. */
function readName(scan: Scan): string[] {
  const steps = [""]
  while (scan.at < scan.text.length && !scan.fault) {
    const char = scan.text[scan.at] as string
    if (isSpace(char) || ":=<>!".includes(char)) break
    if (char === '"') {
      steps.push(`${steps.pop()}${readQuoted(scan)}`)
    } else {
      scan.at += 1
      if (char === ".") steps.push("")
      else steps.push(`${steps.pop()}${char}`)
    }
  }
  return steps
}

function readValues(scan: Scan, name: string, operator: string): RawValue[] {
  const values: RawValue[] = []
  for (;;) {
    values.push(readValue(scan, `${name}${operator}`))
    const next = scan.text[scan.at]
    if (scan.fault || next === undefined || isSpace(next)) return values
    if (next !== ",") refuse(scan, scan.at, "expected a space or a comma after the closing quote")
    scan.at += 1
  }
}

function readValue(scan: Scan, before: string): RawValue {
  const position = scan.at
  if (scan.text[scan.at] === '"') {
    const text = readQuoted(scan)
    const isPrefix = scan.text[scan.at] === "*"
    if (isPrefix) scan.at += 1
    return { position, text, isPrefix }
  }
  while (scan.at < scan.text.length && !isSpace(scan.text[scan.at] as string) && scan.text[scan.at] !== ",") {
    if (scan.text[scan.at] === '"')
      refuse(scan, scan.at, "a quote inside a value: put the whole value in quotes")
    scan.at += 1
  }
  const written = scan.text.slice(position, scan.at)
  if (written === "") refuse(scan, position, `expected a value after "${clip(before)}"`)
  const star = written.indexOf("*")
  if (star >= 0 && star < written.length - 1) {
    refuse(
      scan,
      position + star,
      'a "*" can only stand at the end; put the value in quotes to mean the character',
    )
  }
  return { position, text: star < 0 ? written : written.slice(0, -1), isPrefix: star >= 0 }
}

/** From quote to quote. A backslash before a quote or a backslash means that character. */
function readQuoted(scan: Scan): string {
  const opened = scan.at
  const parts: string[] = []
  scan.at += 1
  while (scan.text[scan.at] !== '"') {
    if (scan.at >= scan.text.length) {
      refuse(scan, opened, "the quote is not closed")
      return ""
    }
    if (scan.text[scan.at] === "\\") {
      scan.at += 1
      if (!['"', "\\"].includes(scan.text[scan.at] ?? "")) {
        refuse(scan, scan.at - 1, 'a backslash in quotes stands before a quote or a backslash: write "\\\\"')
      }
    }
    parts.push(scan.text[scan.at] ?? "")
    scan.at += 1
  }
  scan.at += 1
  return parts.join("")
}

function bareWord(word: string): string {
  if (/^(and|&&?|or|\|\|?|not)$/i.test(word)) {
    return "terms are joined by and as they stand; a comma between values is or; a leading - is not"
  }
  return 'expected a comparison after the name, as in "job:invoice.*" or "priority>0"'
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && isSpace(text[at] as string)) at += 1
  return at
}

/** Where the next term may begin. A quote that is not closed reaches to the end of the text. */
function endOfTerm(text: string, from: number): number {
  let at = from
  while (at < text.length && !isSpace(text[at] as string)) at += 1
  return at
}

function wordAt(text: string, from: number): string {
  return clip((/^-?([^\s:=<>!"]*)/.exec(text.slice(from, from + 200))?.[1] ?? "").replace(/^-/, ""))
}

function isSpace(char: string): boolean {
  return /\s/.test(char)
}

const SHOWN_LENGTH = 60

/** A hostile text is not sent back in full. */
export function clip(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}
