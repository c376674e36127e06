import { useTranslation } from 'react-i18next'
import { isUnhealthy, successRate } from '#console/api/channel-health.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import type {
  ChannelHealth,
  HealthFigures,
  HistoryRange,
} from '#read-api/contract/channel-health.ts'
import { ChannelHealthActions } from './channel-action-buttons.tsx'
import { UnknownValue } from './channel-health-columns.tsx'
import { HISTORY_RANGE_OF_PERIOD, type Period } from './channel-health-filters.ts'
import { durationText, rateText, speedText } from './format-durations-and-rates.ts'
import { HistoryPanel } from './history-panel.tsx'
import { CircuitLine, StateCell } from './state-cell.tsx'
import { Timeline } from './timeline.tsx'

type View = { window: Period; history: HistoryRange | ''; at: number }

export function ChannelHealthDrawer(props: {
  channel: ChannelHealth | null
  view: View
  onView: (patch: Partial<View>) => void
  onClose: () => void
}) {
  const { channel, view } = props
  return (
    <Drawer
      isOpen={channel !== null}
      onClose={props.onClose}
      title={channel?.name ?? ''}
      lead={channel === null ? undefined : `#${channel.id}`}
      isWide
    >
      {channel !== null && (
        <div className="tg-health-details">
          <CurrentState channel={channel} period={view.window} />
          <HistoryPanel
            channelId={channel.id}
            range={view.history || HISTORY_RANGE_OF_PERIOD[view.window]}
            onRange={(history) => props.onView({ history })}
          />
          <ModelTable channel={channel} period={view.window} />
          <Timeline channelId={channel.id} at={view.at} onAt={(at) => props.onView({ at })} />
        </div>
      )}
    </Drawer>
  )
}

function CurrentState(props: { channel: ChannelHealth; period: Period }) {
  const { t } = useTranslation()
  const { channel } = props
  const number = useNumberFormat()
  const { circuits, max_concurrency, max_rpm, in_flight, figures } = channel
  const anomalies = figures[props.period]?.anomalies ?? 0
  const limits = [
    max_concurrency > 0 && t('health.concurrencyLimit', { number: number.format(max_concurrency) }),
    max_rpm > 0 && t('health.limitRpm', { number: number.format(max_rpm) }),
  ].filter((text) => text !== false)
  return (
    <section aria-label={t('health.currentState')}>
      <p className="tg-health-now">
        <StateCell channel={channel} />
        {in_flight !== null && (
          <span>
            {t('health.inFlightNow', { count: in_flight, number: number.format(in_flight) })}
          </span>
        )}
        {limits.length > 0 && <span className="tg-muted">{limits.join(' · ')}</span>}
      </p>
      {circuits.length > 0 && (
        <ul className="tg-health-circuits">
          {circuits.map((circuit) => (
            <CircuitLine key={`${circuit.key_index}|${circuit.model}`} circuit={circuit} />
          ))}
        </ul>
      )}
      {anomalies > 0 && (
        <p className="tg-hint">
          {t('health.anomalies', {
            count: anomalies,
            number: number.format(anomalies),
            window: t(`health.window.${props.period}`),
          })}
        </p>
      )}
      <ChannelHealthActions key={channel.id} channel={channel} period={props.period} />
      {channel.is_last && isUnhealthy(channel) && (
        <p className="tg-hint">{t('health.lastChannelKept')}</p>
      )}
    </section>
  )
}

const HEADS = [
  'ui.model',
  'health.column.success',
  'health.column.p50',
  'health.column.p95',
  'health.column.p99',
  'shared.firstToken',
  'health.column.speed',
] as const

function ModelTable(props: { channel: ChannelHealth; period: Period }) {
  const { t } = useTranslation()
  const { channel, period } = props
  const title = t('health.byModel', { window: t(`health.window.${period}`) })
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must scroll it */}
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
