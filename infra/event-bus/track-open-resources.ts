type Stoppable = { readonly stop: () => Promise<void> }

/**
 * Tracks the resources that callers have opened, so that closing the bus can close the ones that
 * are still open.
 */
export function createOpenResources() {
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
