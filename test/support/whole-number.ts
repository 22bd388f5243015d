/** Numbers on the command line of these tools. */

/** The value of an option if that is a whole number from 1 on; otherwise prints the fault and ends the program. */
export function wholeNumber(option: string, text: string | undefined): number {
  const number = Number(text)
  if (/^\d+$/.test(text ?? "") && Number.isSafeInteger(number) && number > 0) return number
  process.stderr.write(`--${option} has to be a whole number from 1 on, not "${text}".\n`)
  process.exit(1)
}
