import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useChannelHealth } from '#console/api/channel-health.ts'
import { call } from '#console/api/client.ts'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { SiteUsage } from '#read-api/contract/usage.ts'
import { ChannelHealthPanel } from './channel-health-panel.tsx'
import { logRange } from './chart-range.ts'
import { KeyFigure } from './key-figures.tsx'
import { LiveCallRate } from './live-call-rate.tsx'
import { type CostTotals, MarginFigure, MarginNote, MarginShare, marginOf } from './site-margin.tsx'
import { TopList } from './top-list.tsx'
import type { ChartView } from './use-chart-view.ts'
import { requestedInterval } from './use-usage-points.ts'

export function SiteFiguresPanel({ view }: { view: ChartView }) {
  const { t } = useTranslation()
  const { data, error, refetch } = useSite(view)
  const health = useChannelHealth().data
  if (error !== null && data === undefined) {
    return (
      <Panel title={t('dashboard.site')}>
        <ErrorState error={error} onRetry={() => void refetch()} />
      </Panel>
    )
  }
  const inFlight = health?.channels.map((channel) => channel.in_flight)
  return (
    <section className="tg-dash-site" aria-labelledby="tg-dash-site">
      <header>
        <h2 id="tg-dash-site">{t('dashboard.site')}</h2>
        <p>{t('dashboard.siteLead')}</p>
      </header>
      <dl className="tg-dash-figures tg-dash-site-figures">
        <SiteFigures site={data} />
        {currentScratchCopy() === null && (
          <>
            <LiveCallRate />
            <InFlight counts={inFlight} />
            <Lag lag={data?.lag} />
          </>
        )}
      </dl>
      {data !== undefined && data.totals.quota > 0 && <MarginNote totals={data.totals} />}
      <div className="tg-dash-site-lists">
        <TopLists site={data} range={logRange(view)} />
        <ChannelHealthPanel channels={health?.channels} />
      </div>
    </section>
  )
}

type TopListsProps = { site: SiteUsage | undefined; range: string }

function TopLists({ site, range }: TopListsProps) {
  const { t } = useTranslation()
  return (
    <>
      <TopList
        title={t('dashboard.topUsers')}
        head={t('shared.user')}
        rows={site?.top_users.map(({ user_id: id, username, ...spent }) => ({
          key: `${id}`,
          name: username === '' ? `#${id}` : username,
          ...spent,
          search: username === '' ? null : { username, range },
        }))}
      />
      <TopList
        title={t('dashboard.topModels')}
        head={t('ui.model')}
        hasMargin={isAnyCosted(site?.top_models)}
        rows={site?.top_models.map(({ model_name: model, ...spent }) => ({
          key: model,
          name: model,
          ...spent,
          search: { model, range },
          margin: <MarginShare totals={spent} />,
        }))}
      />
      <TopList
        title={t('dashboard.topChannels')}
        head={t('shared.channel')}
        hasMargin
        rows={site?.top_channels.map(({ channel_id: id, name, ...spent }) => ({
          key: `${id}`,
          name,
          ...spent,
          search: { channel: `${id}`, range },
          margin: <MarginShare totals={spent} />,
        }))}
      />
    </>
  )
}

function SiteFigures({ site }: { site: SiteUsage | undefined }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const number = useNumberFormat()
  const percent = useNumberFormat({ style: 'percent', maximumFractionDigits: 1 })
  const wait = <Skeleton width={60} height={24} />
  const count = (value: number | undefined) => (value === undefined ? wait : number.format(value))
  const charged = site && exactQuotaText(quotaOf(site.totals.quota), rule)
  return (
    <>
      <KeyFigure name={t('dashboard.charged')} value={charged ?? wait} />
      <MarginFigure totals={site?.totals} />
      <KeyFigure
        name={t('dashboard.cacheRead')}
        value={site === undefined ? wait : percent.format(cacheShare(site.totals))}
        note={
          site &&
          t('dashboard.cacheSaved', {
            amount: exactQuotaText(quotaOf(site.totals.cache_saved), rule),
          })
        }
      />
      <KeyFigure name={t('shared.calls')} value={count(site?.totals.count)} />
      <KeyFigure name={t('dashboard.failedCalls')} value={count(site?.totals.failed)} />
      <KeyFigure name={t('dashboard.activeUsers')} value={count(site?.totals.users)} />
    </>
  )
}

const cacheShare = ({ input_tokens: all, cache_read_tokens: read }: SiteUsage['totals']): number =>
  all === 0 ? 0 : read / all

const isAnyCosted = (rows: readonly CostTotals[] = []): boolean =>
  rows.some((row) => marginOf(row) !== null)

function InFlight({ counts }: { counts: readonly (number | null)[] | undefined }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const measured = counts?.filter((count) => count !== null) ?? []
  const sum = measured.reduce((all, count) => all + count, 0)
  return (
    <KeyFigure
      name={t('dashboard.inFlight')}
      value={measured.length === 0 ? '–' : number.format(sum)}
    />
  )
}

function Lag({ lag }: { lag: SiteUsage['lag'] | undefined }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  if (lag === undefined) {
    return <KeyFigure name={t('dashboard.lag')} value={<Skeleton width={60} height={24} />} />
  }
  const { behind, read_model: name } = lag
  if (behind === 0) return <KeyFigure name={t('dashboard.lag')} value={t('dashboard.lagNone')} />
  return (
    <KeyFigure
      name={t('dashboard.lag')}
      value={t('dashboard.lagEvents', { count: behind, number: number.format(behind) })}
      note={t('dashboard.lagSlowest', { name })}
    />
  )
}

const POLL_INTERVAL_MS = 10_000

function useSite({ range, zoom, calendar }: ChartView) {
  return useQuery({
    queryKey: [...siteUsageKey, zoom ?? range, calendar],
    queryFn: ({ signal }) => siteUsage({ ...requestedInterval({ range, zoom, calendar }), signal }),
    placeholderData: keepPreviousData,
    refetchOnMount: 'always',
    refetchInterval: POLL_INTERVAL_MS,
  })
}

const siteUsageKey = ['site-usage'] as const

const siteUsage = (request: {
  from: number
  to: number
  signal?: AbortSignal
}): Promise<SiteUsage> =>
  call('GET /api/data/site', {
    query: { start_timestamp: request.from, end_timestamp: request.to },
    signal: request.signal,
  })
