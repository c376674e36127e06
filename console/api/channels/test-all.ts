import { queryOptions } from '@tanstack/react-query'
import type { TestProgress } from '#read-api/contract/channel-action.ts'
import { request } from '../request.ts'

/** Begins to test all channels, in the background of the server. */
export async function startTestingAll(): Promise<TestProgress> {
  return (await request<TestProgress>({ path: '/api/channel/test' })).data
}

export const testProgressKey = ['channel-test-progress'] as const

/** How far the last such test is; asked again and again while it runs and nobody tells. */
export const testProgressQuery = (isLive: boolean) =>
  queryOptions({
    queryKey: testProgressKey,
    queryFn: async ({ signal }) =>
      (await request<TestProgress>({ path: '/api/channel/test/progress', signal })).data,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.is_running === true && !isLive ? 1_000 : false),
  })
