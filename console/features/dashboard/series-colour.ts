import { OTHERS } from './usage-chart.ts'

/** Returns the color of a series in bars, legend and tooltip. */
export const colourOf = (index: number, name: string): string =>
  name === OTHERS ? 'var(--tg-chart-other)' : `var(--tg-chart-${index + 1})`
