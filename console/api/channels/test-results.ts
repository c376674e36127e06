import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { TestProgress, TestResults } from '#read-api/contract/channel-act.ts'
import { request } from '../request.ts'

/** What the last test of all channels found, read anew with each step of it. */
export const testResultsQuery = (progress: TestProgress | undefined) =>
  queryOptions({
    queryKey: ['channel-test-results', progress?.run, progress?.tested],
    queryFn: async ({ signal }) =>
      (await request<TestResults>({ path: '/api/channel/test/results', signal })).data,
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
