type Stoppable = { readonly stop: () => Promise<void> }

/**
 * Tracks the workers, watches and leases that callers have started, so that closing the bus can
 * stop those that still run.
 */
export function createStartedWorkersAndWatches() {
  const open = new Set<Stoppable>()
  return {
    track: <T extends Stoppable>(started: T): T => {
      const tracked = {
        ...started,
        stop: async () => {
          open.delete(tracked)
          await started.stop()
        },
      }
      open.add(tracked)
      return tracked
    },
    stopAll: async (): Promise<void> => {
      await Promise.all([...open].map(({ stop }) => stop()))
    },
  }
}
