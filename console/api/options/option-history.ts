import { infiniteQueryOptions } from '@tanstack/react-query'
import type { OptionChange } from '#read-api/contract/option.ts'
import { request } from '../request.ts'

type ChangePage = { items: OptionChange[]; page: number; total: number }

export const optionHistoryKey = ['option-history'] as const
const PAGE_SIZE = 20

/** Who changed the options of a section, newest first. */
export const optionHistoryQuery = (section: string) =>
  infiniteQueryOptions({
    queryKey: [...optionHistoryKey, section],
    queryFn: async ({ pageParam, signal }): Promise<ChangePage> => {
      const query = { section, p: pageParam, page_size: PAGE_SIZE }
      const { data } = await request<ChangePage>({ path: '/api/option/history', query, signal })
      return data
    },
    initialPageParam: 0,
    getNextPageParam: ({ page, total }) => ((page + 1) * PAGE_SIZE < total ? page + 1 : undefined),
  })
