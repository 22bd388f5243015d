import { describe, expect, it } from "vitest"
import { createKernel, type Kernel, type Owner } from "./kernel.ts"
import { createChance } from "./seeded-random.ts"
import { createTrace, type Trace } from "./trace.ts"

function open(seed = "a seed"): { kernel: Kernel; trace: Trace } {
  const trace = createTrace()
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { kernel: createKernel({ chance: createChance(seed), trace, turn }), trace }
}

const everything = () => false

describe("chance", () => {
  it("is the same for the same seed, and another for another", () => {
    const draws = (seed: string) => Array.from({ length: 20 }, createChance(seed).bits)
    expect(draws("one")).toEqual(draws("one"))
    expect(draws("one")).not.toEqual(draws("two"))
  })

  it("that is forked draws the same however much was drawn before", () => {
    const [fresh, used] = [createChance("one"), createChance("one")]
    for (let draw = 0; draw < 10; draw += 1) used.bits()
    expect(used.fork("part").bits()).toBe(fresh.fork("part").bits())
  })

  it("comes to every number of a range and to none beyond", () => {
    const chance = createChance("dice")
    const thrown = new Set(Array.from({ length: 300 }, () => chance.between(1, 6)))
    expect([...thrown].sort()).toEqual([1, 2, 3, 4, 5, 6])
  })

  it("that something happens is as often as it was said", () => {
    const chance = createChance("often")
    const count = Array.from({ length: 10_000 }, () => chance.happens(0.1)).filter(Boolean).length
    expect(count).toBeGreaterThan(900)
    expect(count).toBeLessThan(1_100)
  })
})

describe("the kernel", () => {
  it("lets things happen in the order of their times, at their times", async () => {
    const { kernel } = open()
    const happened: [string, number][] = []
    for (const [name, us] of [
      ["late", 3_000],
      ["early", 10],
      ["between", 200],
    ] as const)
      kernel.after(us, () => happened.push([name, kernel.nowUs()]))
    await kernel.run(everything)
    expect(happened).toEqual([
      ["early", 10],
      ["between", 200],
      ["late", 3_000],
    ])
  })

  it("lets everything that follows from one thing happen before the next", async () => {
    const { kernel } = open()
    const happened: string[] = []
    kernel.after(1, () => {
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => happened.push("what follows"))
    })
    kernel.after(2, () => happened.push("the next"))
    await kernel.run(everything)
    expect(happened).toEqual(["what follows", "the next"])
  })

  it("decides by chance between things at the same moment, the same way for the same seed", async () => {
    const orderOf = async (seed: string) => {
      const { kernel } = open(seed)
      const happened: number[] = []
      for (let thing = 0; thing < 8; thing += 1) kernel.after(5, () => happened.push(thing))
      await kernel.run(everything)
      return happened.join()
    }
    const orders = await Promise.all(Array.from({ length: 10 }, (_, index) => orderOf(`seed ${index}`)))
    expect(new Set(orders).size).toBeGreaterThan(5)
    expect(await orderOf("seed 3")).toBe(orders[3])
  })

  it("lets nothing happen that was cancelled, or that belongs to the dead", async () => {
    const { kernel } = open()
    const happened: string[] = []
    let isAlive = true
    const owner: Owner = { isAlive: () => isAlive, pausedUntilUs: () => 0 }
    kernel.after(5, () => happened.push("cancelled")).cancel()
    kernel.after(10, () => happened.push("of the dead"), owner)
    kernel.after(1, () => {
      isAlive = false
    })
    await kernel.run(everything)
    expect(happened).toEqual([])
  })

  it("puts off what belongs to the paused until they go on, in its order, and nothing of others", async () => {
    const { kernel } = open()
    const happened: [string, number][] = []
    const paused: Owner = { isAlive: () => true, pausedUntilUs: () => 1_000 }
    for (const us of [10, 20, 30])
      kernel.after(us, () => happened.push([`paused ${us}`, kernel.nowUs()]), paused)
    kernel.after(25, () => happened.push(["another", kernel.nowUs()]))
    await kernel.run(everything)
    expect(happened).toEqual([
      ["another", 25],
      ["paused 10", 1_000],
      ["paused 20", 1_001],
      ["paused 30", 1_002],
    ])
  })

  it("writes a trace whose hash tells any difference", () => {
    const hashOf = (line: string) => {
      const { kernel, trace } = open()
      kernel.note("first")
      kernel.note(line)
      return trace.hash()
    }
    expect(hashOf("second")).toBe(hashOf("second"))
    expect(hashOf("second")).not.toBe(hashOf("third"))
  })
})
