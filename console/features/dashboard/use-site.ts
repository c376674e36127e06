import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { siteUsage, siteUsageKey } from '#console/api/dashboard/site-usage.ts'
import type { ChartView } from './use-chart-view.ts'
import { asked } from './use-usage.ts'

const EVERY_MS = 10_000

/** How the whole site does over the chart's range; read again now and then, as all write to it. */
export function useSite({ range, zoom, calendar }: ChartView) {
  return useQuery({
    queryKey: [...siteUsageKey, zoom ?? range, calendar],
    queryFn: ({ signal }) => siteUsage({ ...asked({ range, zoom, calendar }), signal }),
    placeholderData: keepPreviousData,
    refetchOnMount: 'always',
    refetchInterval: EVERY_MS,
  })
}
