import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import {
  matchingRedemptionsQuery,
  redemptionsKey,
  redemptionsQuery,
} from '#console/api/token-and-redemption-queries.ts'
import { useRegisterActions } from '#console/ui/actions/action-registry.ts'
import { RowMenu } from '#console/ui/elements/menu.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { KeywordFilter, ListPanel, rowId } from '#console/ui/lists/list-panel.tsx'
import { listUrlParams } from '#console/ui/lists/list-url-params.ts'
import { StatusFilter } from '#console/ui/lists/select-filter.tsx'
import { SelectionBar } from '#console/ui/lists/selection-bar.tsx'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { type SelectedRows, useSelectedRows } from '#console/ui/lists/use-selected-rows.ts'
import { useLiveRefetch } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import { choiceParam, textParam } from '#console/ui/state/url-state.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { isSpent, redemptionColumns } from './redemption-columns.tsx'
import { type RedemptionActions, useRedemptionActions } from './use-redemption-actions.ts'

/**
 * Maps each sortable column to its name on the server. The code column is sorted by the last four
 * characters of the codes.
 */
const SORTS = {
  id: 'id',
  name: 'name',
  status: 'status',
  quota: 'quota',
  key: 'key',
  user: 'used_username',
  uses: 'used_count',
  redeemed: 'redeemed_time',
  until: 'valid_until',
  created: 'created_time',
}
const STATUSES = ['1', '2', '3'] as const
const STATUS_KEYS = { 1: 'unused', 2: 'disabled', 3: 'used' } as const

const URL_PARAMS = listUrlParams(
  { keyword: textParam(), status: choiceParam<'' | (typeof STATUSES)[number]>(STATUSES, '') },
  { sorts: SORTS, isKeyset: true },
)
const REFETCH_INTERVAL_MIN_MS = 500
const TOP_UP_LOG_TYPE = 1

function useRedemptionList() {
  const client = useQueryClient()
  const refetch = () => void client.invalidateQueries({ queryKey: redemptionsKey })
  useLiveRefetch('logs', REFETCH_INTERVAL_MIN_MS, refetch, ({ type }) => type === TOP_UP_LOG_TYPE)
  return useListPage(URL_PARAMS, redemptionsQuery)
}

function RedemptionFilters({ view }: { view: ReturnType<typeof useRedemptionList> }) {
  const { t } = useTranslation()
  return (
    <>
      <KeywordFilter label={t('redemptions.search')} view={view} />
      <StatusFilter
        value={view.filter.status}
        choices={choicesOf(STATUSES, (value) => t(`shared.state.${STATUS_KEYS[value]}`))}
        onChange={(status) => view.setFilter({ status })}
      />
    </>
  )
}

function SelectedRedemptions(props: {
  selected: SelectedRows<Redemption>
  actions: RedemptionActions
}) {
  const { t } = useTranslation()
  const { actions, selected } = props
  const { selectedRows } = selected
  const copy = () => void actions.copyKeys(selectedRows)
  const download = () => actions.saveCsv(selectedRows)
  const disable = async () => {
    await actions.disable(selectedRows)
    selected.clearSelection()
  }
  return (
    <SelectionBar
      selected={selected}
      actions={[
        { icon: 'copy', text: t('redemptions.copySelected'), perform: copy },
        { icon: 'download', text: t('redemptions.downloadCsv'), perform: download },
        { icon: 'pause', text: t('redemptions.disableSelected'), perform: () => void disable() },
      ]}
    />
  )
}

type RedemptionListProps = {
  onCreate: () => void
  onEdit: (redemption: Redemption) => void
  onDeleteByName: () => void
}

export function RedemptionList(props: RedemptionListProps) {
  const { t } = useTranslation()
  const actions = useRedemptionActions(props.onEdit)
  const view = useRedemptionList()
  const { rows, total, filter } = view
  const matching = matchingRedemptionsQuery(filter)
  const selected = useSelectedRows({ rows, total, filters: filter, matching })
  const columns = useMemo(() => redemptionColumns(t, actions), [t, actions])
  return (
    <ListPanel
      label={t('redemptions.title')}
      view={view}
      layoutKey="coupons-table-columns"
      columns={columns}
      rowKey={rowId}
      filters={<RedemptionFilters view={view} />}
      create={{ text: t('redemptions.create'), perform: props.onCreate }}
      none={{ icon: 'ticket', title: t('redemptions.noneTitle'), body: t('redemptions.noneBody') }}
      notFound={{ title: t('redemptions.notFoundTitle'), body: t('redemptions.notFoundBody') }}
      tools={<BulkActions actions={actions} onDeleteByName={props.onDeleteByName} />}
      selectionBar={<SelectedRedemptions selected={selected} actions={actions} />}
      isMuted={isSpent}
      isLastColumnSticky
      selection={{ keys: selected.keys, onChange: selected.select }}
    />
  )
}

function BulkActions(props: { actions: RedemptionActions; onDeleteByName: () => void }) {
  const { t } = useTranslation()
  const items = [
    {
      id: 'redemptions-deleteByName',
      title: t('redemptions.deleteByName'),
      icon: 'tag',
      perform: props.onDeleteByName,
    },
    {
      id: 'redemptions-deleteDisabled',
      title: t('redemptions.deleteDisabled'),
      icon: 'trash',
      tone: 'danger',
      perform: () => void props.actions.removeDisabled(),
    },
  ] as const
  useRegisterActions(items)
  return <RowMenu label={t('redemptions.moreActions')} items={items} />
}
