/** The test kit, which Carillon's own tests use too. Not for production. */
export type { CarillonEvent } from "../observe/events.ts"
export { CRASH_POINTS, type CrashPoint } from "../runtime/crash-points.ts"
export type { TestApp, TestAppOptions, TestClock } from "./test-app.ts"
export { createTestKit, type TestKit, type TestKitOptions } from "./test-kit.ts"
