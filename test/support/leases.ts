import type { Leases } from '#infra/leases/leases.ts'

/**
 * Leases for a core without Postgres. They are granted immediately, because there is only one
 * process.
 */
export const leasesOfOne: Pick<Leases, 'hold'> = {
  hold: (name, work) => {
    const stopping = new AbortController()
    const running = work({ name, fence: 1 }, stopping.signal)
    return {
      stop: async () => {
        stopping.abort()
        await running
      },
    }
  },
}
