type Stoppable = { readonly stop: () => Promise<void> }

/** What a bus has under way, so that closing it stops whatever was not stopped before. */
export function createOpenWorks() {
  const open = new Set<Stoppable>()
  return {
    keep: <T extends Stoppable>(started: T): T => {
      const kept = {
        ...started,
        stop: async () => {
          open.delete(kept)
          await started.stop()
        },
      }
      open.add(kept)
      return kept
    },
    stopAll: async (): Promise<void> => {
      await Promise.all([...open].map(({ stop }) => stop()))
    },
  }
}
