// Writes a history as fast as it can, until it is killed. Prints one line when it begins.
import { openRecorder } from "./record.mjs"

const { record } = openRecorder(process.argv[2], "chatterbox")
for (let number = 0; ; number += 1) {
  record("effect", { run: `run-${number}`, key: "x".repeat(number % 5_000) })
  if (number === 100) process.stdout.write("begun\n")
}
