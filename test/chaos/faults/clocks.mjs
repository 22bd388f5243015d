// What the clock of a process says, and that it is known to be wrong.
export const createCommands = ({ record }) => ({
  clock: async () => Date.now(),
  clockOff: async ({ ms }) => record("clock_off", { ms }),
})
