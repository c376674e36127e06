import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { compareHealth, HEALTH_TONE, healthKind, successRate } from '#console/api/channel-health.ts'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { TableHead } from '#console/ui/elements/table-head.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import type { ChannelHealth } from '#read-api/contract/channel-health.ts'

const SHOWN = 10

export function ChannelHealthPanel(props: { channels: readonly ChannelHealth[] | undefined }) {
  const { t } = useTranslation()
  const { channels } = props
  return (
    <Panel
      title={t('shell.health')}
      lead={t('dashboard.channelsLead')}
      actions={<Link to="/admin/health">{t('dashboard.allCalls')}</Link>}
    >
      {channels === undefined && <Skeleton height={160} />}
      {channels?.length === 0 && <p className="tg-muted">{t('shared.noChannels')}</p>}
      {channels !== undefined && channels.length > 0 && (
        <table className="tg-dash-top">
          <TableHead
            titles={[t('shared.channel'), t('health.column.success'), t('dashboard.latency')]}
          />
          <tbody>
            {channels
              .toSorted(compareHealth)
              .slice(0, SHOWN)
              .map((channel) => (
                <Row key={channel.id} channel={channel} />
              ))}
          </tbody>
        </table>
      )}
    </Panel>
  )
}

function Row({ channel }: { channel: ChannelHealth }) {
  const { t } = useTranslation()
  const locale = useLocale()
  const kind = healthKind(channel)
  const rate = successRate(channel.figures.h1)
  const latency = channel.figures.h1?.latency_ms?.p50
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const seconds = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
  return (
    <tr>
      <th scope="row" title={channel.name}>
        <Link to={`/admin/health?peek=${channel.id}`}>{channel.name}</Link>
        <StatusTag tone={HEALTH_TONE[kind]}>{t(`health.kind.${kind}`)}</StatusTag>
      </th>
      <td>{rate === null ? '–' : percent.format(rate)}</td>
      <td>{latency === undefined ? '–' : `${seconds.format(latency / 1000)} s`}</td>
    </tr>
  )
}
