import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { apiQuery, call } from '#console/api/client.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import {
  type Column,
  column,
  HIDDEN_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { stamp } from '#console/ui/elements/time.tsx'
import { NumberFilter } from '#console/ui/forms/filter-input.tsx'
import { choicesOf, Select } from '#console/ui/forms/inputs.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { choiceParam, integerParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import type { MismatchedCall } from '#read-api/contract/calls.ts'
import { CursorList, cursorQuery } from '../elements/cursor-list.tsx'
import { ColumnTable } from '../elements/small-tables.tsx'
import { timeColumn } from '../elements/time-and-amount-columns.tsx'

const ANOMALIES = ['other-model', 'higher-cost'] as const
const PER_PAGE = 50

const URL_PARAMS = {
  anomaly: choiceParam<(typeof ANOMALIES)[number]>(ANOMALIES, 'other-model'),
  channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
}

/**
 * Lists either the calls whose answer names a model other than the one in the request to the
 * provider, or the calls for which the provider reported more than twice the expected cost. The
 * expected cost is the list price of the usage, multiplied by the channel's cost ratio. A table
 * above the list shows for each channel how many calls another model answered.
 */
export function ProviderModelAndCostMismatches() {
  const { t } = useTranslation()
  const [{ anomaly, channel }, set] = useUrlState(URL_PARAMS)
  const query = useInfiniteQuery(
    cursorQuery(['audit', 'mismatched-calls', anomaly, channel], (cursor, signal) =>
      call('GET /api/audit/calls', {
        query: { anomaly, channel: channel || '', cursor, limit: PER_PAGE },
        signal,
      }),
    ),
  )
  const columns = useMemo(() => mismatchColumns(t), [t])
  return (
    <>
      <OtherModelCounts onChannel={(id) => set({ anomaly: 'other-model', channel: id })} />
      <CursorList
        label={t('audit.call.mismatch.title')}
        query={query}
        rowKey={({ position }) => String(position)}
        layoutKey="audit-mismatched-calls-columns"
        columns={columns}
        filters={
          <>
            <h2>{t('audit.call.mismatch.title')}</h2>
            <Select
              aria-label={t('audit.call.mismatch.kind')}
              value={anomaly}
              choices={choicesOf(ANOMALIES, (one) => t(`audit.call.mismatch.of.${one}`))}
              onChange={(one) => set({ anomaly: one })}
            />
            <NumberFilter
              label={t('shared.channelId')}
              value={channel}
              errorText={t('audit.history.idInvalid')}
              onCommit={(id) => set({ channel: id })}
            />
          </>
        }
        moreText={t('audit.loadOlder')}
        empty={
          <EmptyState
            icon="check"
            title={t('audit.call.mismatch.none')}
            body={t('audit.call.mismatch.noneLead')}
          />
        }
      />
    </>
  )
}

/**
 * The height (px) reserved for the counts of one channel, so that the list below does not move when
 * the counts appear.
 */
const COUNTS_HEIGHT = 70

/**
 * Shows for each channel how many answers name a model other than the one in the request to the
 * provider.
 */
function OtherModelCounts({ onChannel }: { onChannel: (channelId: number) => void }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const query = useQuery(apiQuery('GET /api/audit/other-models'))
  const title = t('audit.call.mismatch.byChannel')
  return (
    <Panel title={title} lead={t('audit.call.mismatch.byChannelLead')}>
      <QueryView query={query} height={COUNTS_HEIGHT}>
        {(counts) =>
          counts.length === 0 ? (
            <p className="tg-muted">{t('audit.call.mismatch.none')}</p>
          ) : (
            <ColumnTable
              label={title}
              rows={counts}
              rowKey={({ channel_id: id }) => String(id)}
              columns={[
                [
                  t('shared.channel'),
                  (row) => (
                    <button
                      type="button"
                      className="tg-audit-link"
                      onClick={() => onChannel(row.channel_id)}
                    >
                      {channelOf(row)}
                    </button>
                  ),
                ],
                [t('audit.call.mismatch.last'), ({ last_at: at }) => stamp(at)],
                [{ end: t('shared.calls') }, ({ count }) => number.format(count)],
              ]}
            />
          )
        }
      </QueryView>
    </Panel>
  )
}

const mismatchColumns = (t: TFunction): Column<MismatchedCall>[] => [
  timeColumn('time', t('shared.time'), ({ created_at: at }) => at, { onCard: 'aside' }),
  column(
    'request',
    t('shared.requestId'),
    290,
    ({ request_id: id }) => (
      <Link to={`/app/calls/${encodeURIComponent(id)}`}>
        <code>{id}</code>
      </Link>
    ),
    TITLE_COLUMN,
  ),
  column('channel', t('shared.channel'), 170, channelOf),
  column('model', t('audit.call.mismatch.billedModel'), 150, ({ model }) => model),
  column(
    'sent',
    t('audit.call.upstreamModel'),
    150,
    ({ sent_model: model }) => model,
    HIDDEN_COLUMN,
  ),
  column('answered', t('audit.call.servedModel'), 150, ({ answered_model: model }) => model ?? '–'),
  column('user', t('shared.user'), 70, ({ user_id: id }) => (
    <Link to={`/app/audit/ledgers/${id}`}>#{id}</Link>
  )),
]

const channelOf = ({ channel_id: id, channel_name: name }: ChannelOfRow): string =>
  name === '' ? `#${id}` : `${name} (#${id})`

type ChannelOfRow = { readonly channel_id: number; readonly channel_name: string }
