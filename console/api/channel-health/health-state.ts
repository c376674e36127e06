import type { ChannelHealth, HealthFigures } from '#read-api/contract/channel-health.ts'

export type HealthKind =
  | 'disabled'
  | 'autoDisabled'
  | 'open'
  | 'halfOpen'
  | 'partly'
  | 'failing'
  | 'idle'
  | 'well'

const FAILING_BELOW = 0.9
const RANK: readonly HealthKind[] = [
  'autoDisabled',
  'open',
  'halfOpen',
  'partly',
  'failing',
  'well',
  'idle',
  'disabled',
]

export const HEALTH_TONE = {
  disabled: 'neutral',
  autoDisabled: 'bad',
  open: 'bad',
  halfOpen: 'warn',
  partly: 'warn',
  failing: 'warn',
  idle: 'neutral',
  well: 'good',
} as const satisfies Record<HealthKind, string>

/** One word for a channel, the gravest that fits. */
export function healthKind({ status, circuits, figures }: ChannelHealth): HealthKind {
  if (status === 3) return 'autoDisabled'
  if (status !== 1) return 'disabled'
  const whole = circuits.find(({ model, key_index }) => model === null && key_index === null)
  if (whole !== undefined) return whole.state === 'open' ? 'open' : 'halfOpen'
  if (circuits.length > 0) return 'partly'
  const rate = successRate(figures.m5)
  if (rate !== null && rate < FAILING_BELOW) return 'failing'
  // NOTE: a push brings the last minutes alone; the day's figures come with the next full read.
  const isIdle = [figures.m5, figures.h1, figures.d1].every((part) => part === null)
  return isIdle ? 'idle' : 'well'
}

export const isTroubled = (channel: ChannelHealth): boolean =>
  RANK.indexOf(healthKind(channel)) < RANK.indexOf('well')

/** Those in trouble first, gravest first; else by id. */
export const byTrouble = (one: ChannelHealth, other: ChannelHealth): number =>
  Math.min(RANK.indexOf(healthKind(one)), RANK.indexOf('well')) -
    Math.min(RANK.indexOf(healthKind(other)), RANK.indexOf('well')) || one.id - other.id

/** 0 to 1; null when nothing was tried. */
export function successRate(figures: HealthFigures | null): number | null {
  if (figures === null) return null
  const tries = figures.successes + figures.failures
  return tries === 0 ? null : figures.successes / tries
}

export type Point = { readonly from: number; readonly rate: number | null; readonly tries: number }

/** The last hour in stretches of `minutes`, oldest first; one without tries is a gap. */
export function pointsOf(
  rows: ChannelHealth['minutes'],
  atSeconds: number,
  minutes = 3,
): readonly Point[] {
  const length = minutes * 60
  const end = (Math.floor(atSeconds / length) + 1) * length
  const count = Math.round(3_600 / length)
  return Array.from({ length: count }, (_, index) => {
    const from = end - (count - index) * length
    const within = rows.filter(([minute]) => minute >= from && minute < from + length)
    const successes = within.reduce((sum, [, well]) => sum + well, 0)
    const tries = within.reduce((sum, [, well, failed]) => sum + well + failed, 0)
    return { from, tries, rate: tries === 0 ? null : successes / tries }
  })
}
