import type { Leases } from '#infra/leases/exclusive-leases.ts'

/** A single process gets leases immediately, without Postgres. */
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
