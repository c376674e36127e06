import { isAdmin, useUser } from '#console/api/session.ts'
import { useStatus } from '#console/api/status.ts'
import { choiceParam, integerParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import {
  fittingStep,
  RANGE_OF_STEP,
  RANGES,
  rangesFor,
  SPANS,
  STEPS,
  stepOf,
  stepsFor,
  zoomFromUrl,
} from './chart-range.ts'
import type { ChartMeasure, ChartStep } from './usage-chart-data.ts'

export const MEASURES = ['quota', 'count', 'token_used'] as const

/**
 * The settings of the chart that are kept in the URL. If the URL has no `step` (the length of a
 * bar), the chart uses the default that the operator has set, or another length if the default does
 * not fit the range.
 */
const URL_PARAMS = {
  range: choiceParam(['', ...RANGES], ''),
  step: choiceParam(['', ...STEPS], ''),
  measure: choiceParam<ChartMeasure>(MEASURES, 'quota'),
  by: choiceParam(['model', 'token'] as const, 'model'),
  scope: choiceParam(['self', 'all'] as const, 'self'),
  from: integerParam({ fallback: 0, max: 99_999_999_999 }),
  to: integerParam({ fallback: 0, max: 99_999_999_999 }),
}

export type ChartView = ReturnType<typeof useChartView>

export function useChartView() {
  const [urlState, set] = useUrlState(URL_PARAMS)
  const preset = stepOf(useStatus()?.data_export_default_time)
  const isSiteKnown = isAdmin(useUser())
  const scope = isSiteKnown ? urlState.scope : 'self'
  // The chart of all users is always by model, because the server has no totals by token for all
  // users.
  const by = scope === 'all' ? 'model' : urlState.by
  const isByDay = by === 'token'
  const ranges = rangesFor(isByDay)
  const requestedRange = urlState.range === '' ? RANGE_OF_STEP[preset] : urlState.range
  const range = ranges.find((one) => one === requestedRange) ?? '7d'
  const zoom = zoomFromUrl(urlState)
  const span = zoom === null ? SPANS[range] : zoom.to - zoom.from
  const preferredStep: ChartStep = urlState.step === '' ? preset : urlState.step
  const step = fittingStep(preferredStep, span, isByDay)
  const calendar = { step, isUtc: isByDay }
  const steps = stepsFor(span, isByDay)
  const { measure } = urlState
  return { scope, by, range, ranges, zoom, step, isSiteKnown, calendar, measure, steps, set }
}
