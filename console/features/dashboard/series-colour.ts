import { OTHERS } from './usage-chart.ts'

export const colourOf = (index: number, name: string): string =>
  name === OTHERS ? 'var(--tg-chart-other)' : `var(--tg-chart-${index + 1})`
