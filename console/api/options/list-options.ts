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
  // A Map is no plain object to be shared in part: the same values stay the same Map.
  structuralSharing: (old, fresh) => (isSame(old, fresh) ? old : fresh),
  refetchOnWindowFocus: false,
})

type Values = ReadonlyMap<string, string>

const isSame = (old: unknown, fresh: unknown): boolean =>
  old instanceof Map &&
  old.size === (fresh as Values).size &&
  [...(fresh as Values)].every(([key, value]) => old.get(key) === value)
