import { type ReactElement, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { useListCommands } from '#console/ui/commands/use-list-commands.ts'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { ListPanel } from '#console/ui/list-panel.tsx'
import { RowMenu } from '#console/ui/menu.tsx'
import type { Redemption } from '#read-api/contract/redemption.ts'
import { ChosenCoupons } from './chosen-coupons.tsx'
import { couponColumns } from './coupon-columns.tsx'
import { CouponFilters } from './coupon-filters.tsx'
import { isSpent } from './coupon-state.ts'
import { useChosenCoupons } from './use-chosen-coupons.ts'
import { useCouponActions } from './use-coupon-actions.ts'
import { useCouponList } from './use-coupon-list.ts'

type CouponListProps = {
  onCreate: () => void
  onEdit: (coupon: Redemption) => void
  onDeleteByName: () => void
}

/** The codes of the site: filtered, sorted, page by page, some of them selected. */
export function CouponList(props: CouponListProps): ReactElement {
  const { t } = useTranslation()
  const acts = useCouponActions()
  const shown = useCouponList()
  const { list, rows, paging } = shown
  const chosen = useChosenCoupons(shown)
  const layout = useCouponLayout(acts, props.onEdit)
  const refresh = () => void list.refetch()
  useListCommands(t('coupons.create'), props.onCreate, t('coupons.refresh'), refresh)
  return (
    <ListPanel
      label={t('coupons.title')}
      list={list}
      rows={rows}
      rowKey={rowKey}
      layout={layout}
      paging={paging}
      filtersLabel={t('coupons.filters')}
      filters={<CouponFilters filter={shown.filter} onChange={shown.setFilter} />}
      refreshText={t('coupons.refresh')}
      onRefresh={refresh}
      tools={<ManyActs acts={acts} onDeleteByName={props.onDeleteByName} />}
      chosen={<ChosenCoupons chosen={chosen} acts={acts} />}
      isMuted={isSpent}
      isEnded
      sort={shown.sort}
      onSort={shown.setSort}
      selection={{ keys: chosen.keys, onChange: chosen.choose }}
      empty={
        <NoCoupons isFiltered={shown.isFiltered} onClear={shown.clear} onCreate={props.onCreate} />
      }
    />
  )
}

/** For codes that need not be chosen one by one. */
function ManyActs(props: {
  acts: ReturnType<typeof useCouponActions>
  onDeleteByName: () => void
}): ReactElement {
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

function useCouponLayout(
  acts: ReturnType<typeof useCouponActions>,
  onEdit: (coupon: Redemption) => void,
) {
  const { t } = useTranslation()
  const columns = useMemo(
    () =>
      couponColumns(t, {
        onToggle: (coupon) => void acts.setEnabled(coupon, coupon.status !== 1),
        onEdit,
        onDelete: (coupon) => void acts.remove(coupon),
      }),
    [t, acts, onEdit],
  )
  return useColumnLayout('coupons-table-columns', columns)
}

function NoCoupons(props: {
  isFiltered: boolean
  onClear: () => void
  onCreate: () => void
}): ReactElement {
  const { t } = useTranslation()
  if (props.isFiltered) {
    return (
      <EmptyState
        icon="search"
        title={t('coupons.notFoundTitle')}
        body={t('coupons.notFoundBody')}
        action={<Button onClick={props.onClear}>{t('coupons.clear')}</Button>}
      />
    )
  }
  return (
    <EmptyState
      icon="ticket"
      title={t('coupons.noneTitle')}
      body={t('coupons.noneBody')}
      action={
        <Button tone="primary" icon="add" onClick={props.onCreate}>
          {t('coupons.create')}
        </Button>
      }
    />
  )
}
