import type { Effort } from '../canonical/canonical-request.ts'

/**
 * The thinking budget in tokens for each effort. The budgets up to `high` are those of Google's own
 * conversion of `reasoning_effort`.
 */
export const BUDGET_OF_EFFORT: Readonly<Record<Effort, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
}
