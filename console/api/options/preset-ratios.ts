import { queryOptions } from '@tanstack/react-query'
import type { PresetRatios } from '#read-api/contract/option.ts'
import { request } from '../request.ts'

export const PRESET_SOURCES = ['flexible', 'openrouter', 'legacy'] as const
export type PresetSource = (typeof PRESET_SOURCES)[number]

export const presetRatiosQuery = (source: PresetSource) =>
  queryOptions({
    queryKey: ['preset-ratios', source],
    queryFn: async ({ signal }) => {
      const path = '/api/option/preset_ratios'
      return (await request<PresetRatios>({ path, query: { source }, signal })).data
    },
    retry: false,
  })
