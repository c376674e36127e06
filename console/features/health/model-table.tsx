import { useTranslation } from 'react-i18next'
import { successRate } from '#console/api/channel-health.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import type { ChannelHealth, HealthFigures } from '#read-api/contract/channel-health.ts'
import { UnknownValue } from './health-columns.tsx'
import type { Period } from './health-filters.ts'
import { durationText, rateText, speedText } from './metric-text.ts'

const HEADS = [
  'ui.model',
  'health.column.success',
  'health.column.p50',
  'health.column.p95',
  'health.column.p99',
  'shared.firstToken',
  'health.column.speed',
] as const

export function ModelTable(props: { channel: ChannelHealth; period: Period }) {
  const { t } = useTranslation()
  const { channel, period } = props
  const title = t('health.byModel', { window: t(`health.window.${period}`) })
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reachable by keys */}
      <section className="tg-health-scroll" tabIndex={0} aria-label={t('health.modelFigures')}>
        <table className="tg-health-table">
          <thead>
            <tr>
              {HEADS.map((head) => (
                <th key={head} scope="col">
                  {t(head)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {channel.models.map(({ model, figures }) => (
              <Row key={model} name={model} figures={figures[period]} />
            ))}
          </tbody>
          {channel.models.length > 1 && (
            <tfoot>
              <Row name={t('health.allModels')} figures={channel.figures[period]} />
            </tfoot>
          )}
        </table>
      </section>
    </section>
  )
}

function Row(props: { name: string; figures: HealthFigures | null }) {
  const number = useNumberFormat()
  const { figures } = props
  const rate = successRate(figures)
  const time = (value: number | undefined) =>
    value === undefined ? <UnknownValue /> : durationText(value, number)
  const speed = figures?.tokens_per_second ?? null
  return (
    <tr>
      <th scope="row">{props.name}</th>
      <td>{rate === null ? <UnknownValue /> : rateText(rate, number)}</td>
      <td>{time(figures?.latency_ms?.p50)}</td>
      <td>{time(figures?.latency_ms?.p95)}</td>
      <td>{time(figures?.latency_ms?.p99)}</td>
      <td>{time(figures?.first_token_ms?.p50)}</td>
      <td>{speed === null ? <UnknownValue /> : speedText(speed, number)}</td>
    </tr>
  )
}
