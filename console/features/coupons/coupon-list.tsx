import { type ReactElement, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { useListCommands } from '#console/ui/commands/use-list-commands.ts'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { Select } from '#console/ui/inputs.tsx'
import { ListPanel } from '#console/ui/list-panel.tsx'
import { RowMenu } from '#console/ui/menu.tsx'
import { SearchInput } from '#console/ui/search-input.tsx'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { couponColumns } from './coupon-columns.tsx'
import { isSpent } from './coupon-state.ts'
import { useChosenCoupons } from './use-chosen-coupons.ts'
import { type CouponActs, useCouponActions } from './use-coupon-actions.ts'
import { type CouponFilter, STATUSES, useCouponList } from './use-coupon-list.ts'

/** What can be done to the selected codes; nothing while none is. */
function ChosenCoupons(props: {
  chosen: ReturnType<typeof useChosenCoupons>
  acts: CouponActs
}): ReactElement | null {
  const { t } = useTranslation()
  const { acts, chosen } = props
  const { picked, choosable } = chosen
  const disable = async () => {
    await acts.disable(picked)
    chosen.chooseNone()
  }
  if (picked.length === 0) return null
  return (
    <fieldset className="tg-chosen tg-bulk" aria-label={t('coupons.chosenLabel')}>
      <div className="tg-chosen-part">
        <span role="status">{t('coupons.chosen', { count: picked.length })}</span>
        {choosable > 0 && (
          <Button tone="quiet" size="small" onClick={() => void chosen.chooseAll()}>
            {t('coupons.chooseMatching', { count: choosable })}
          </Button>
        )}
        <Button tone="quiet" size="small" onClick={chosen.chooseNone}>
          {t('coupons.chooseNone')}
        </Button>
      </div>
      <div className="tg-chosen-part">
        <Button size="small" icon="copy" onClick={() => void acts.copyKeys(picked)}>
          {t('coupons.copyChosen')}
        </Button>
        <Button size="small" icon="download" onClick={() => acts.download(picked)}>
          {t('coupons.downloadChosen')}
        </Button>
        <Button size="small" icon="pause" onClick={() => void disable()}>
          {t('coupons.disableChosen')}
        </Button>
      </div>
    </fieldset>
  )
}

const WORDS = { 1: 'unused', 2: 'disabled', 3: 'used' } as const

/** By name, id or a whole key, and by status. */
function CouponFilters(props: {
  filter: CouponFilter
  onChange: (patch: Partial<CouponFilter>, isTyping: boolean) => void
}): ReactElement {
  const { t } = useTranslation()
  const choices = [
    { value: '' as const, label: t('coupons.anyStatus') },
    ...STATUSES.map((value) => ({ value, label: t(`coupons.state.${WORDS[value]}`) })),
  ]
  return (
    <>
      <SearchInput
        icon="search"
        label={t('coupons.search')}
        value={props.filter.keyword}
        onChange={(keyword) => props.onChange({ keyword }, true)}
      />
      <Select
        aria-label={t('coupons.status')}
        value={props.filter.status}
        choices={choices}
        onChange={(status) => props.onChange({ status }, false)}
      />
    </>
  )
}

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
