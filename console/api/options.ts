import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type {
  Option,
  OptionChange,
  OptionsSchema,
  PresetRatios,
  ScheduledChange,
} from '#read-api/contract/options.ts'
import type { LatestRelease } from '#read-api/contract/status.ts'
import type { SchedulePrices } from '#write-api/contract/options.ts'
import { ApiError } from './api-error.ts'
import { fetchData, type ListPage, request } from './request.ts'

export const optionsKey = ['options'] as const

/** Key → value as text. */
export const optionsQuery = queryOptions({
  queryKey: optionsKey,
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
    const data = await fetchData<Option[]>({ path: '/api/option/', signal })
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

/** Which options there are and how they are typed; another one only with another release. */
export const optionSchemaQuery = queryOptions({
  queryKey: ['option-schema'],
  queryFn: ({ signal }): Promise<OptionsSchema> =>
    fetchData<OptionsSchema>({ path: '/api/option/schema', signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/**
 * `before`: as it was read; refused where somebody has set another value since. Answers what there
 * is to know of what was saved; empty for nothing.
 */
export async function putOption(key: string, value: string, before: string): Promise<string> {
  const body = { key, value, before }
  return (await request({ method: 'PUT', path: '/api/option/', body })).message
}

export const isChangedMeanwhile = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'OptionChanged'

export const optionHistoryKey = ['option-history'] as const
const PAGE_SIZE = 20

/** Who changed the options of a section, newest first. */
export const optionHistoryQuery = (section: string) =>
  infiniteQueryOptions({
    queryKey: [...optionHistoryKey, section],
    queryFn: async ({ pageParam, signal }): Promise<ListPage<OptionChange>> => {
      const query = { section, p: pageParam, page_size: PAGE_SIZE }
      return fetchData<ListPage<OptionChange>>({ path: '/api/option/history', query, signal })
    },
    initialPageParam: 0,
    getNextPageParam: ({ page, total }) => ((page + 1) * PAGE_SIZE < total ? page + 1 : undefined),
  })

export const priceScheduleKey = ['price-schedule'] as const

const SCHEDULE_PATH = '/api/option/price_schedule'

export const priceScheduleQuery = queryOptions({
  queryKey: priceScheduleKey,
  queryFn: async ({ signal }) =>
    (
      await fetchData<ListPage<ScheduledChange>>({
        path: SCHEDULE_PATH,
        query: { page_size: 100 },
        signal,
      })
    ).items,
})

export const schedulePrices = (body: SchedulePrices) =>
  request<{ id: number }>({ method: 'POST', path: SCHEDULE_PATH, body })

export const cancelPrices = (id: number) =>
  request({ method: 'DELETE', path: `${SCHEDULE_PATH}/${id}` })

export const PRESET_SOURCES = ['flexible', 'openrouter', 'legacy'] as const
export type PresetSource = (typeof PRESET_SOURCES)[number]

export const presetRatiosQuery = (source: PresetSource) =>
  queryOptions({
    queryKey: ['preset-ratios', source],
    queryFn: async ({ signal }) => {
      const path = '/api/option/preset_ratios'
      return fetchData<PresetRatios>({ path, query: { source }, signal })
    },
    retry: false,
  })

const RELEASE_PATH = '/api/option/latest_release'

/** Asks now, whatever the switch says. */
export async function checkForUpdate(): Promise<LatestRelease> {
  const query = { is_forced: true }
  return fetchData<LatestRelease>({ path: RELEASE_PATH, query })
}

/** What the automatic check found; nothing where it is off. A failure of it is no news. */
export const automaticCheckQuery = queryOptions({
  queryKey: ['latest-release'],
  queryFn: ({ signal }): Promise<LatestRelease> =>
    fetchData<LatestRelease>({ path: RELEASE_PATH, signal }),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
})
