import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import {
  matchingRedemptionsQuery,
  redemptionsKey,
  redemptionsQuery,
} from '#console/api/redemptions.ts'
import { RowMenu } from '#console/ui/elements/menu.tsx'
import { KeywordFilter, ListPanel } from '#console/ui/lists/list-panel.tsx'
import { listUrlParams } from '#console/ui/lists/list-url-params.ts'
import { StatusFilter } from '#console/ui/lists/select-filter.tsx'
import { SelectionBar } from '#console/ui/lists/selection-bar.tsx'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { type SelectedRows, useSelectedRows } from '#console/ui/lists/use-selected-rows.ts'
import { choiceParam, textParam } from '#console/ui/state/url-state.ts'
import { useLiveRefetch } from '#console/ui/state/use-throttled.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { couponColumns } from './coupon-columns.tsx'
import { isSpent } from './coupon-state.ts'
import { type CouponActions, useCouponActions } from './use-coupon-actions.ts'

const SORTS = {
  id: 'id',
  name: 'name',
  status: 'status',
  quota: 'quota',
  uses: 'used_count',
  redeemed: 'redeemed_time',
  until: 'valid_until',
  created: 'created_time',
}
const STATUSES = ['1', '2', '3'] as const
const WORDS = { 1: 'unused', 2: 'disabled', 3: 'used' } as const

const ADDRESS = listUrlParams(
  { keyword: textParam(), status: choiceParam<'' | (typeof STATUSES)[number]>(STATUSES, '') },
  { sorts: SORTS },
)
const EVERY_MS = 500
const TOP_UP = 1

/** Reads the page of codes that the URL selects. The page is read again when a code is redeemed. */
function useCouponList() {
  const client = useQueryClient()
  const readAgain = () => void client.invalidateQueries({ queryKey: redemptionsKey })
  useLiveRefetch('logs', EVERY_MS, readAgain, ({ type }) => type === TOP_UP)
  return useListPage(ADDRESS, redemptionsQuery)
}

function CouponFilters({ view }: { view: ReturnType<typeof useCouponList> }) {
  const { t } = useTranslation()
  return (
    <>
      <KeywordFilter label={t('coupons.search')} view={view} />
      <StatusFilter
        value={view.filter.status}
        choices={STATUSES.map((value) => ({ value, label: t(`coupons.state.${WORDS[value]}`) }))}
        onChange={(status) => view.setFilter({ status })}
      />
    </>
  )
}

function ChosenCoupons(props: { chosen: SelectedRows<Redemption>; actions: CouponActions }) {
  const { t } = useTranslation()
  const { actions, chosen } = props
  const { picked } = chosen
  const disable = async () => {
    await actions.disable(picked)
    chosen.chooseNone()
  }
  return (
    <SelectionBar
      chosen={chosen}
      acts={[
        { icon: 'copy', text: t('coupons.copyChosen'), act: () => void actions.copyKeys(picked) },
        { icon: 'download', text: t('coupons.downloadCsv'), act: () => actions.saveCsv(picked) },
        { icon: 'pause', text: t('coupons.disableChosen'), act: () => void disable() },
      ]}
    />
  )
}

type CouponListProps = {
  onCreate: () => void
  onEdit: (coupon: Redemption) => void
  onDeleteByName: () => void
}

export function CouponList(props: CouponListProps) {
  const { t } = useTranslation()
  const actions = useCouponActions(props.onEdit)
  const view = useCouponList()
  const { rows, total, filter } = view
  const matching = matchingRedemptionsQuery(filter)
  const chosen = useSelectedRows({ rows, total, filters: filter, matching })
  const columns = useMemo(() => couponColumns(t, actions), [t, actions])
  return (
    <ListPanel
      label={t('coupons.title')}
      view={view}
      layoutKey="coupons-table-columns"
      columns={columns}
      rowKey={rowKey}
      filters={<CouponFilters view={view} />}
      create={{ text: t('coupons.create'), act: props.onCreate }}
      none={{ icon: 'ticket', title: t('coupons.noneTitle'), body: t('coupons.noneBody') }}
      notFound={{ title: t('coupons.notFoundTitle'), body: t('coupons.notFoundBody') }}
      tools={<ManyActs actions={actions} onDeleteByName={props.onDeleteByName} />}
      chosen={<ChosenCoupons chosen={chosen} actions={actions} />}
      isMuted={isSpent}
      isEnded
      selection={{ keys: chosen.keys, onChange: chosen.choose }}
    />
  )
}

function ManyActs(props: { actions: CouponActions; onDeleteByName: () => void }) {
  const { t } = useTranslation()
  return (
    <RowMenu
      label={t('coupons.moreActions')}
      items={[
        { text: t('coupons.deleteByName'), icon: 'tag', onChoose: props.onDeleteByName },
        {
          text: t('coupons.deleteDisabled'),
          icon: 'trash',
          tone: 'danger',
          onChoose: () => void props.actions.removeDisabled(),
        },
      ]}
    />
  )
}

const rowKey = (coupon: Redemption): string => String(coupon.id)
