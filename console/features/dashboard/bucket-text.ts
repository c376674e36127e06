import { stampText } from '#console/ui/time-text.ts'
import type { ChartStep } from './usage-chart.ts'

/** `11-21 07:00` for hours, `11-21` for days; `at` in unix seconds, in the browser's zone. */
export const bucketText = (at: number, step: ChartStep): string =>
  step === 'hour' ? stampText(at).slice(5, 16) : stampText(at).slice(5, 10)
