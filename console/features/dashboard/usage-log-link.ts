import { currentSeconds } from '#console/api/scratch-copy.ts'
import type { ChartRange, Interval } from './chart-range.ts'
import { SPANS } from './chart-range.ts'

export function logRange(view: { range: ChartRange; zoom: Interval | null }): string {
  if (view.zoom !== null) return `${view.zoom.from}-${view.zoom.to}`
  if (view.range !== '90d') return view.range
  const to = currentSeconds()
  return `${to - SPANS[view.range]}-${to}`
}

export const logLink = (search: Readonly<Record<string, string>>): string =>
  `/app/logs/api-usage?${new URLSearchParams(search)}`
