import { queryOptions } from '@tanstack/react-query'
import type { LatestRelease } from '#read-api/contract/latest-release.ts'
import { request } from '../request.ts'

const PATH = '/api/option/latest_release'

/** Asks now, whatever the switch says. */
export async function checkForUpdate(): Promise<LatestRelease> {
  const query = { is_forced: true }
  return (await request<LatestRelease>({ path: PATH, query })).data
}

/** What the automatic check found; nothing where it is off. A failure of it is no news. */
export const automaticCheckQuery = queryOptions({
  queryKey: ['latest-release'],
  queryFn: async ({ signal }): Promise<LatestRelease> =>
    (await request<LatestRelease>({ path: PATH, signal })).data,
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
})
