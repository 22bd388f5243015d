/** The disk under the server: full, failing, or without power. */
import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Fault } from "../fault.ts"
import { SAFE, type ServerOptions, signal as send } from "../server.ts"
import type { World } from "../world.ts"

const isRoot = process.getuid?.() === 0
const lacksRoot = () => (isRoot ? undefined : "root")

function timesInLog({ server }: World, text: string): number {
  return readFileSync(server.log, "utf8").split(text).length - 1
}

/** A server that has given up is started again by its supervisor. */
async function startAgain({ server }: World): Promise<void> {
  if (!server.isUp()) await server.start()
}

function smallDisk(folder: string): ServerOptions {
  const dataHome = join(folder, "disk")
  mkdirSync(dataHome)
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=256m,mode=755", "tmpfs", dataHome])
  const settings = { max_wal_size: "64MB", min_wal_size: "32MB", ...SAFE }
  return { dataHome, settings, cleanUp: () => void execFileSync("umount", ["-l", dataHome]) }
}

const ballastIn = ({ folder }: World) => join(folder, "disk", "ballast")

function fillUp(file: string): void {
  const chunk = Buffer.alloc(1_048_576)
  try {
    for (;;) writeFileSync(file, chunk, { flag: "a" })
  } catch {
    // It is full.
  }
}

const fullDisk: Fault = {
  id: "F30",
  title: "the disk of the server is full",
  needs: lacksRoot,
  stage: { server: smallDisk },
  strikes: ["times that the disk was filled", "writes that found no room"],
  inject: async (world, chance, signal) => {
    const ballast = ballastIn(world)
    do {
      fillUp(ballast)
      world.struck("times that the disk was filled")
      const untilMs = performance.now() + chance.between(2_000, 4_000)
      // Space that others free meanwhile is taken too.
      while (performance.now() < untilMs) {
        fillUp(ballast)
        await world.rest(100)
      }
      rmSync(ballast)
      await startAgain(world)
      await world.rest(1_000, signal)
    } while (!signal.aborted)
  },
  heal: async (world) => {
    rmSync(ballastIn(world), { force: true })
    await startAgain(world)
    world.struck("writes that found no room", timesInLog(world, "No space left on device"))
  },
}

const lacksStrace = () => {
  try {
    execFileSync("strace", ["--version"], { stdio: "ignore" })
    return lacksRoot()
  } catch {
    return "strace"
  }
}

/**
 * Each process of the server counts what it writes by itself: on a busy machine it takes a while until one has come
 * so far.
 */
const PANIC_MS = 20_000

const failingDisk: Fault = {
  id: "F31",
  title: "the disk refuses to write what it was given, and the server panics",
  needs: lacksStrace,
  stage: { server: { settings: SAFE } },
  strikes: ["panics"],
  inject: async (world, chance, signal) => {
    do {
      const before = timesInLog(world, "PANIC:")
      const tracer = spawn(
        "strace",
        [
          ...["-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync"],
          ...["-e", `inject=fdatasync:error=EIO:when=${chance.between(1, 20)}+`],
          ...world.server.pids().flatMap((pid) => ["-p", String(pid)]),
        ],
        { stdio: "ignore" },
      )
      const ended = new Promise((resolve) => tracer.once("exit", resolve))
      await world.until(() => timesInLog(world, "PANIC:") > before, PANIC_MS)
      // From here on the disk is sound again: recovery finds what had been written.
      tracer.kill("SIGTERM")
      await ended
      world.struck("panics", timesInLog(world, "PANIC:") - before)
      await startAgain(world)
      await world.rest(chance.between(1_000, 2_000), signal)
    } while (!signal.aborted)
  },
  heal: startAgain,
}

const lacksLoop = () =>
  lacksRoot() ??
  (existsSync("/dev/loop-control") && existsSync("/sbin/mkfs.ext4")
    ? undefined
    : "loop devices and mkfs.ext4")

/** Only fsynced writes are sure to reach it. */
function mountImage(image: string, at: string): void {
  mkdirSync(at)
  execFileSync("mount", ["-o", "loop,commit=300,noatime", image, at])
}

/** An image that is mounted: what it holds is what had reached the disk. */
function imageDisk(folder: string): ServerOptions {
  const image = join(folder, "disk-0.img")
  execFileSync("truncate", ["-s", "512M", image])
  execFileSync("mkfs.ext4", ["-q", image])
  const dataHome = join(folder, "disk-0")
  mountImage(image, dataHome)
  execFileSync("chmod", ["755", dataHome])
  const settings = { max_wal_size: "64MB", min_wal_size: "32MB", ...SAFE }
  return { dataHome, settings, cleanUp: () => unmountAll(folder) }
}

function unmountAll(folder: string): void {
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n")
  for (const line of mounts) {
    const at = line.split(" ")[1]
    if (at?.startsWith(`${folder}/disk-`)) execFileSync("umount", ["-l", at])
  }
}

const powerLoss: Fault = {
  id: "F32",
  title: "the power fails, and all that had not reached the disk is gone",
  needs: lacksLoop,
  stage: { server: imageDisk },
  strikes: ["power failures"],
  inject: async (world, chance, signal) => {
    const { folder, server } = world
    // Creating the cluster is not under test here.
    execFileSync("sync", ["-f", join(folder, "disk-0")])
    let number = 0
    do {
      await world.rest(chance.between(1_000, 2_500), signal)
      const pids = server.pids()
      for (const pid of pids) send(pid, "SIGSTOP")
      const [before, after] = [`disk-${number}`, `disk-${number + 1}`].map((name) => join(folder, name))
      execFileSync("cp", ["--sparse=always", `${before}.img`, `${after}.img`])
      // What is left of the old one goes with it.
      for (const pid of pids.toReversed()) send(pid, "SIGKILL")
      await server.kill()
      mountImage(`${after}.img`, `${after}`)
      await server.start({ cluster: join(`${after}`, "cluster") })
      world.struck("power failures")
      number += 1
    } while (!signal.aborted)
  },
}

export const disk: readonly Fault[] = [fullDisk, failingDisk, powerLoss]
