import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import {
  matchingRedemptionsQuery,
  redemptionsKey,
  redemptionsQuery,
} from '#console/api/redemptions.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { RowMenu } from '#console/ui/elements/menu.tsx'
import { Select } from '#console/ui/forms/inputs.tsx'
import { ChosenBar } from '#console/ui/lists/chosen-bar.tsx'
import { listAddress } from '#console/ui/lists/list-address.ts'
import { KeywordFilter, ListPanel } from '#console/ui/lists/list-panel.tsx'
import { type ChosenRows, useChosenRows } from '#console/ui/lists/use-chosen-rows.ts'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { choiceParam, textParam } from '#console/ui/state/url-state.ts'
import { useLiveRefetch } from '#console/ui/state/use-throttled.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { couponColumns } from './coupon-columns.tsx'
import { isSpent } from './coupon-state.ts'
import { type CouponActs, useCouponActions } from './use-coupon-actions.ts'

/** The server's name of each sortable column, by column id. */
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

const ADDRESS = listAddress(
  { keyword: textParam(), status: choiceParam<'' | (typeof STATUSES)[number]>(STATUSES, '') },
  { sorts: SORTS },
)
const EVERY_MS = 500
const TOP_UP = 1

/** Reads the page of codes that the URL selects, and again when a code is redeemed. */
function useCouponList() {
  const client = useQueryClient()
  const readAgain = () => void client.invalidateQueries({ queryKey: redemptionsKey })
  useLiveRefetch('logs', EVERY_MS, readAgain, ({ type }) => type === TOP_UP)
  return useListPage(ADDRESS, redemptionsQuery)
}

/** Filters by status, and by a name, an id or a complete key. */
function CouponFilters({ view }: { view: ReturnType<typeof useCouponList> }): ReactElement {
  const { t } = useTranslation()
  return (
    <>
      <KeywordFilter label={t('coupons.search')} view={view} />
      <Select
        aria-label={t('words.status')}
        value={view.filter.status}
        choices={[
          { value: '' as const, label: t('words.anyStatus') },
          ...STATUSES.map((value) => ({ value, label: t(`coupons.state.${WORDS[value]}`) })),
        ]}
        onChange={(status) => view.setFilter({ status })}
      />
    </>
  )
}

function ChosenCoupons(props: { chosen: ChosenRows<Redemption>; acts: CouponActs }): ReactElement {
  const { t } = useTranslation()
  const { acts, chosen } = props
  const { picked } = chosen
  const disable = async () => {
    await acts.disable(picked)
    chosen.chooseNone()
  }
  return (
    <ChosenBar chosen={chosen}>
      <Button size="small" icon="copy" onClick={() => void acts.copyKeys(picked)}>
        {t('coupons.copyChosen')}
      </Button>
      <Button size="small" icon="download" onClick={() => acts.download(picked)}>
        {t('coupons.downloadCsv')}
      </Button>
      <Button size="small" icon="pause" onClick={() => void disable()}>
        {t('coupons.disableChosen')}
      </Button>
    </ChosenBar>
  )
}

type CouponListProps = {
  onCreate: () => void
  onEdit: (coupon: Redemption) => void
  onDeleteByName: () => void
}

export function CouponList(props: CouponListProps): ReactElement {
  const { t } = useTranslation()
  const acts = useCouponActions()
  const view = useCouponList()
  const { rows, total, filter } = view
  const matching = matchingRedemptionsQuery(filter)
  const chosen = useChosenRows({ rows, total, filters: filter, matching })
  const columns = useCouponColumns(acts, props.onEdit)
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
      tools={<ManyActs acts={acts} onDeleteByName={props.onDeleteByName} />}
      chosen={<ChosenCoupons chosen={chosen} acts={acts} />}
      isMuted={isSpent}
      isEnded
      selection={{ keys: chosen.keys, onChange: chosen.choose }}
    />
  )
}

/** Buttons for actions that do not require selected codes. */
function ManyActs(props: { acts: CouponActs; onDeleteByName: () => void }): ReactElement {
  const { t } = useTranslation()
  return (
    <RowMenu
      label={t('coupons.moreActions')}
      items={[
        {
          id: 'by-name',
          text: t('coupons.deleteByName'),
          icon: 'tag',
          onChoose: props.onDeleteByName,
        },
        {
          id: 'disabled',
          text: t('coupons.deleteDisabled'),
          icon: 'trash',
          tone: 'danger',
          onChoose: () => void props.acts.removeDisabled(),
        },
      ]}
    />
  )
}

const rowKey = (coupon: Redemption): string => String(coupon.id)

function useCouponColumns(acts: CouponActs, onEdit: (coupon: Redemption) => void) {
  const { t } = useTranslation()
  return useMemo(
    () =>
      couponColumns(t, {
        onToggle: (coupon) => void acts.setEnabled(coupon, coupon.status !== 1),
        onEdit,
        onDelete: (coupon) => void acts.remove(coupon),
      }),
    [t, acts, onEdit],
  )
}
