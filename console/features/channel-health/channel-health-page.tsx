import { type ReactNode, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { healthBarEnd, useChannelHealth } from '#console/api/channel-health.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { LiveIndicator } from '#console/ui/elements/live-indicator.tsx'
import { Segmented } from '#console/ui/forms/choice-inputs.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { SearchInput } from '#console/ui/forms/search-input.tsx'
import { adminPage } from '#console/ui/layout/admins-only-page.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { ColumnChooser } from '#console/ui/lists/column-chooser.tsx'
import { Toolbar } from '#console/ui/lists/toolbar.tsx'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import type { ChannelHealth } from '#read-api/contract/channel-health.ts'
import { channelHealthColumns } from './channel-health-columns.tsx'
import { ChannelHealthDrawer } from './channel-health-drawer.tsx'
import {
  countKinds,
  filterChannels,
  HEALTH_URL_PARAMS,
  PERIODS,
  STATE_FILTERS,
} from './channel-health-filters.ts'
import { rateText } from './format-durations-and-rates.ts'
import '#console/ui/forms/forms.css'
import './channel-health.css'

export const ChannelHealthPage = adminPage('shell.health', ChannelHealthList)

const NONE: readonly ChannelHealth[] = []
const DOLLARS = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const

function ChannelHealthList() {
  const { t } = useTranslation()
  const [view, setView] = useUrlState(HEALTH_URL_PARAMS)
  const health = useChannelHealth()
  const channels = health.data?.channels ?? NONE
  const peeked = channels.find(({ id }) => id === view.peek)
  return (
    <Page title={t('shell.health')} lead={t('health.lead')} actions={<LiveIndicator />}>
      {health.error !== null && health.data === undefined ? (
        <Panel>
          <ErrorState error={health.error} onRetry={() => void health.refetch()} />
        </Panel>
      ) : (
        <>
          <HealthSummary channels={health.data === undefined ? null : channels} />
          <List
            channels={channels}
            healthBarEnd={healthBarEnd(health.data?.at ?? 0)}
            isLoading={health.isPending}
            view={view}
            onView={setView}
          />
        </>
      )}
      <ChannelHealthDrawer
        channel={peeked ?? null}
        view={view}
        onView={setView}
        onClose={() => setView({ peek: 0, at: 0 })}
      />
    </Page>
  )
}

type View = ReturnType<typeof useUrlState<typeof HEALTH_URL_PARAMS>>

function List(props: {
  channels: readonly ChannelHealth[]
  healthBarEnd: number
  isLoading: boolean
  view: View[0]
  onView: View[1]
}) {
  const { t } = useTranslation()
  const { channels, view, onView } = props
  const number = useNumberFormat()
  const money = useNumberFormat(DOLLARS)
  const period = view.window
  const end = props.healthBarEnd
  const columns = useMemo(
    () => channelHealthColumns({ t, number, money, period, healthBarEnd: end }),
    [t, number, money, period, end],
  )
  const layout = useColumnLayout('health-table-columns', columns)
  const rows = useMemo(() => filterChannels(channels, view), [channels, view])
  return (
    <Panel isFlush>
      <HealthToolbar view={view} onView={onView} columns={<ColumnChooser layout={layout} />} />
      <div className="tg-health-board">
        <DataGrid
          label={t('shell.health')}
          rows={rows}
          rowKey={rowKey}
          layout={layout}
          isLoading={props.isLoading}
          isMuted={isMuted}
          onOpen={({ id }) => onView({ peek: id })}
          openText={t('shared.details')}
          empty={<NoRows hasChannels={channels.length > 0} shown={view.shown} />}
        />
      </div>
    </Panel>
  )
}

const rowKey = ({ id }: ChannelHealth): string => `${id}`
const isMuted = ({ status }: ChannelHealth): boolean => status !== 1

function NoRows(props: { hasChannels: boolean; shown: 'all' | 'troubled' }) {
  const { t } = useTranslation()
  if (!props.hasChannels) {
    return <EmptyState icon="channels" title={t('shared.noChannels')} body={t('health.noneBody')} />
  }
  return props.shown === 'troubled' ? (
    <EmptyState icon="check" title={t('health.allWellTitle')} body={t('health.allWellBody')} />
  ) : (
    <EmptyState icon="search" title={t('shared.noChannelMatches')} />
  )
}

function HealthToolbar(props: { view: View[0]; onView: View[1]; columns: ReactNode }) {
  const { t } = useTranslation()
  const { view, onView } = props
  return (
    <Toolbar
      label={t('ui.filters')}
      end={
        <>
          <Segmented
            label={t('shared.timeRange')}
            value={view.window}
            choices={choicesOf(PERIODS, (value) => t(`health.window.${value}`))}
            onChange={(window) => onView({ window })}
          />
          {props.columns}
        </>
      }
    >
      <SearchInput
        label={t('health.search')}
        value={view.keyword}
        onChange={(keyword) => onView({ keyword }, { isTyping: true })}
      />
      <Segmented
        label={t('health.shown.label')}
        value={view.shown}
        choices={choicesOf(STATE_FILTERS, (value) => t(`health.shown.${value}`))}
        onChange={(shown) => onView({ shown })}
      />
    </Toolbar>
  )
}

function HealthSummary(props: { channels: readonly ChannelHealth[] | null }) {
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
  let attempts = 0
  for (const { figures } of channels) {
    if (figures.m5 === null) continue
    successes += figures.m5.successes
    attempts += figures.m5.successes + figures.m5.failures
  }
  return attempts === 0 ? null : successes / attempts
}
