import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'
import { apiQuery, call, callForEnvelope } from './client.ts'

export const optionsKey = ['options'] as const

export const optionsQuery = queryOptions({
  queryKey: optionsKey,
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
    const data = await call('GET /api/option/', { signal })
    return new Map(data.map(({ key, value }) => [key, value]))
  },
  // React Query can't compare Maps, so `isSame` compares them.
  structuralSharing: (old, fresh) => (isSame(old, fresh) ? old : fresh),
  refetchOnWindowFocus: false,
})

type Values = ReadonlyMap<string, string>

const isSame = (old: unknown, fresh: unknown): boolean =>
  old instanceof Map &&
  old.size === (fresh as Values).size &&
  [...(fresh as Values)].every(([key, value]) => old.get(key) === value)

/**
 * Reads the definitions of all options. The definitions are read only once, because they change
 * only with a new release of the server.
 */
export const optionSchemaQuery = {
  ...apiQuery('GET /api/option/schema'),
  staleTime: Number.POSITIVE_INFINITY,
}

export const priceUnitsQuery = apiQuery('GET /api/option/price_units')

/**
 * Saves an option and returns the server's message about it, which is usually empty. `before` is
 * the value that the user has seen. If another admin has changed the option in the meantime, the
 * server rejects the request.
 */
export const putOption = async (key: string, value: string, before: string): Promise<string> =>
  (await callForEnvelope('PUT /api/option/', { body: { key, value, before } })).message

export const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'OptionChanged'

export const optionHistoryKey = ['option-history'] as const
const PAGE_SIZE = 20

export const optionHistoryQuery = (section: string) =>
  infiniteQueryOptions({
    queryKey: [...optionHistoryKey, section],
    queryFn: ({ pageParam, signal }) => {
      const query = { section, p: pageParam, page_size: PAGE_SIZE }
      return call('GET /api/option/history', { query, signal })
    },
    initialPageParam: 0,
    getNextPageParam: ({ page, total }) => ((page + 1) * PAGE_SIZE < total ? page + 1 : undefined),
  })

export const priceScheduleKey = ['price-schedule'] as const

export const priceScheduleQuery = queryOptions({
  queryKey: priceScheduleKey,
  queryFn: async ({ signal }) =>
    (await call('GET /api/option/price_schedule', { query: { page_size: 100 }, signal })).items,
})

export const PRESET_SOURCES = ['flexible', 'openrouter', 'legacy'] as const
export type PresetSource = (typeof PRESET_SOURCES)[number]

export const presetRatiosQuery = (source: PresetSource) => ({
  ...apiQuery('GET /api/option/preset_ratios', { query: { source } }),
  retry: false,
})

/** Reads whether a newer release exists. The result is empty if the automatic check is disabled. */
export const automaticCheckQuery = {
  ...apiQuery('GET /api/option/latest_release'),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
}
