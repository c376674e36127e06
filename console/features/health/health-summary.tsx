import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import type { ChannelHealth } from '#read-api/contract/channel-health.ts'
import { countKinds } from './health-filters.ts'
import { rateText } from './metric-text.ts'

export function HealthSummary(props: { channels: readonly ChannelHealth[] | null }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { channels } = props
  if (channels !== null && channels.length === 0) return null
  const kinds = countKinds(channels ?? [])
  const count = (...counted: Parameters<typeof kinds.get>[0][]): number =>
    counted.reduce((sum, kind) => sum + (kinds.get(kind) ?? 0), 0)
  const rate = rateOf(channels ?? [])
  const figures = [
    ['healthy', number.format(count('healthy', 'idle')), null],
    ['open', number.format(count('open', 'halfOpen', 'degraded')), count('open', 'degraded') > 0],
    ['autoDisabled', number.format(count('autoDisabled')), count('autoDisabled') > 0],
    ['success', rate === null ? '–' : rateText(rate, number), null],
  ] as const
  return (
    <dl className="tg-health-figures">
      {figures.map(([name, value, isBad]) => (
        <div key={name} className={isBad === true ? 'tg-health-bad' : undefined}>
          <dt>{t(`health.figure.${name}`)}</dt>
          <dd>{channels === null ? <Skeleton width={40} height={20} /> : value}</dd>
        </div>
      ))}
    </dl>
  )
}

function rateOf(channels: readonly ChannelHealth[]): number | null {
  let successes = 0
  let tries = 0
  for (const { figures } of channels) {
    if (figures.m5 === null) continue
    successes += figures.m5.successes
    tries += figures.m5.successes + figures.m5.failures
  }
  return tries === 0 ? null : successes / tries
}
