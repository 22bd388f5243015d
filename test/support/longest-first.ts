/** The order of the suites: the longest first, so that no processor is idle while the last one runs. */
import { BaseSequencer, type TestSequencer, type TestSpecification, type Vitest } from "vitest/node"

/** These take a minute each, others some seconds. A fresh clone does not know the last durations. */
const LONGEST = [/\/sim\/seeds\.test\.ts$/, /\/crash\/chaos\.test\.ts$/]

export class LongestFirst implements TestSequencer {
  readonly #base: BaseSequencer

  constructor(vitest: Vitest) {
    this.#base = new BaseSequencer(vitest)
  }

  shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    return this.#base.shard(files)
  }

  async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await this.#base.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((name) => name.test(moduleId))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
