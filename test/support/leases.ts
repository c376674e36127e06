import type { Leases } from '#infra/leases/leases.ts'

/** For a core without Postgres: nobody else is there to hold anything. */
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
