import { OTHERS } from './usage-chart.ts'

/** The colour of a series, the same in bars, legend and tooltip. */
export const colourOf = (index: number, name: string): string =>
  name === OTHERS ? 'var(--tg-chart-other)' : `var(--tg-chart-${index + 1})`
