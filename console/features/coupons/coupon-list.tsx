import { type ReactElement, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { ColumnChooser } from '#console/ui/column-chooser.tsx'
import { useListCommands } from '#console/ui/commands/use-list-commands.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState, ErrorState } from '#console/ui/empty-state.tsx'
import { RowMenu } from '#console/ui/menu.tsx'
import { Pagination } from '#console/ui/pagination.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { Toolbar } from '#console/ui/toolbar.tsx'
import type { Redemption } from '#read-api/contract/redemption.ts'
import { ChosenCoupons } from './chosen-coupons.tsx'
import { couponColumns } from './coupon-columns.tsx'
import { CouponFilters } from './coupon-filters.tsx'
import { isSpent } from './coupon-state.ts'
import { useChosenCoupons } from './use-chosen-coupons.ts'
import { useCouponActs } from './use-coupon-acts.ts'
import { useCouponList } from './use-coupon-list.ts'

type CouponListProps = {
  onCreate: () => void
  onEdit: (coupon: Redemption) => void
  onDeleteByName: () => void
}

/** The codes of the site: filtered, sorted, page by page, some of them selected. */
export function CouponList(props: CouponListProps): ReactElement {
  const { t } = useTranslation()
  const acts = useCouponActs()
  const shown = useCouponList()
  const { list, rows, total, paging } = shown
  const chosen = useChosenCoupons(shown)
  const layout = useCouponLayout(acts, props.onEdit)
  const refresh = () => void list.refetch()
  useListCommands(t('coupons.create'), props.onCreate, t('coupons.refresh'), refresh)
  return (
    <Panel isFlush>
      <Toolbar
        label={t('coupons.filters')}
        end={
          <>
            <Button icon="refresh" label={t('coupons.refresh')} onClick={refresh} />
            <ColumnChooser layout={layout} />
            <ManyActs acts={acts} onDeleteByName={props.onDeleteByName} />
          </>
        }
      >
        <CouponFilters filter={shown.filter} onChange={shown.setFilter} />
      </Toolbar>
      <ChosenCoupons chosen={chosen} acts={acts} />
      {list.error !== null && list.data === undefined ? (
        <ErrorState error={list.error} onRetry={refresh} />
      ) : (
        <div className="tg-list-ended">
          <DataGrid
            label={t('coupons.title')}
            rows={rows}
            rowKey={rowKey}
            layout={layout}
            total={total}
            firstIndex={paging.page * paging.pageSize}
            isLoading={list.isPending}
            isRefetching={list.isPlaceholderData}
            isMuted={isSpent}
            sort={shown.sort}
            onSort={shown.setSort}
            selection={{ keys: chosen.keys, onChange: chosen.choose }}
            empty={
              <NoCoupons
                isFiltered={shown.isFiltered}
                onClear={shown.clear}
                onCreate={props.onCreate}
              />
            }
          />
        </div>
      )}
      <Pagination {...paging} />
    </Panel>
  )
}

/** For codes that need not be chosen one by one. */
function ManyActs(props: {
  acts: ReturnType<typeof useCouponActs>
  onDeleteByName: () => void
}): ReactElement {
  const { t } = useTranslation()
  return (
    <RowMenu
      label={t('coupons.moreActs')}
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
  acts: ReturnType<typeof useCouponActs>,
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
