import { queryOptions } from '@tanstack/react-query'
import type { Option } from '#read-api/contract/option.ts'
import { request } from '../request.ts'

export const optionsKey = ['options'] as const

/** Key → value as text. */
export const optionsQuery = queryOptions({
  queryKey: optionsKey,
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
    const { data } = await request<Option[]>({ path: '/api/option/', signal })
    return new Map(data.map(({ key, value }) => [key, value]))
  },
  // A Map is no plain object for structural sharing, and a draft must not lose its baseline.
  structuralSharing: false,
  refetchOnWindowFocus: false,
})
