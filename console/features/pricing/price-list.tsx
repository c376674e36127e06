import { useCallback, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { copyText } from '#console/ui/elements/copy-to-clipboard.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { SearchInput } from '#console/ui/forms/search-input.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { ClearFiltersButton } from '#console/ui/lists/clear-filters-button.tsx'
import { ColumnChooser } from '#console/ui/lists/column-chooser.tsx'
import { SelectFilter } from '#console/ui/lists/select-filter.tsx'
import { Toolbar } from '#console/ui/lists/toolbar.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { PricedModel } from '#read-api/contract/pricing.ts'
import { ModelDetails } from './model-details.tsx'
import { priceColumns } from './price-columns.tsx'
import { type Billing, OTHER_OWNER, ownersOf, type PricingView } from './use-pricing.ts'

export function PriceList({ view }: { view: PricingView }) {
  const { t } = useTranslation()
  const { query, group, ratio } = view
  const [selected, setSelected] = useState<ReadonlySet<string>>(NONE)
  const selectedGroup = useMemo(() => ({ name: group, ratio }), [group, ratio])
  const columns = useMemo(() => priceColumns(t, selectedGroup), [t, selectedGroup])
  const layout = useColumnLayout('pricing-table-columns', columns)
  const ratios = query.data?.group_ratio
  const details = useCallback(
    (model: PricedModel) => (
      <ModelDetails model={model} group={selectedGroup} ratios={ratios ?? {}} />
    ),
    [selectedGroup, ratios],
  )
  const isMuted = useCallback(
    ({ enable_groups }: PricedModel) => !enable_groups.includes(group),
    [group],
  )
  return (
    <Panel isFlush>
      <Toolbar label={t('pricing.filters')} end={<ColumnChooser layout={layout} />}>
        <PriceFilters view={view} />
      </Toolbar>
      <p className="tg-price-count" role="status">
        {query.data !== undefined && t('pricing.models', { count: view.rows.length })}
      </p>
      {query.error !== null && query.data === undefined ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <DataGrid
          label={t('pricing.title')}
          rows={view.rows}
          rowKey={rowKey}
          layout={layout}
          isLoading={query.isPending}
          selection={{ keys: selected, onChange: setSelected }}
          sort={view.sort}
          onSort={view.setSort}
          isMuted={isMuted}
          expand={details}
          isFirstSticky
          empty={<NoPrices view={view} />}
        />
      )}
      <SelectedModels view={view} selected={selected} onChange={setSelected} />
    </Panel>
  )
}

const NONE: ReadonlySet<string> = new Set()
const rowKey = ({ model_name }: PricedModel): string => model_name

function PriceFilters({ view }: { view: PricingView }) {
  const { t } = useTranslation()
  const { filter, setFilter } = view
  const owners = ownersOf(view.all)
  return (
    <>
      <SearchInput
        label={t('ui.searchModelNames')}
        value={filter.keyword}
        onChange={(keyword) => setFilter({ keyword }, true)}
      />
      <SelectFilter
        label={t('pricing.owner')}
        any={t('pricing.anyOwner')}
        value={filter.owner}
        choices={choicesOf(owners, (value) =>
          value === OTHER_OWNER ? t('pricing.otherOwner') : value,
        )}
        onChange={(owner) => setFilter({ owner })}
      />
      <SelectFilter<Exclude<Billing, ''>>
        label={t('ui.billing')}
        any={t('pricing.anyBilling')}
        value={filter.billing}
        choices={[
          { value: 'tokens', label: t('pricing.byTokens') },
          { value: 'call', label: t('pricing.byCall') },
        ]}
        onChange={(billing) => setFilter({ billing })}
      />
      <SelectFilter
        label={t('pricing.available')}
        any={t('ui.allModels')}
        value={filter.here}
        choices={[{ value: '1', label: t('pricing.onlyHere') }]}
        onChange={(here) => setFilter({ here })}
      />
      {view.isFiltered && <ClearFiltersButton onClear={view.clear} />}
    </>
  )
}

function SelectedModels(props: {
  view: PricingView
  selected: ReadonlySet<string>
  onChange: (selected: ReadonlySet<string>) => void
}) {
  const { t } = useTranslation()
  const { all } = props.view
  const names = all.map(rowKey).filter((name) => props.selected.has(name))
  const copy = async () => {
    if (await copyText(names.join(','))) {
      showSuccess(t('pricing.copied', { count: names.length }))
    }
  }
  if (names.length === 0) return null
  return (
    <fieldset className="tg-selection tg-bulk" aria-label={t('pricing.selection')}>
      <span role="status">{t('pricing.selectedCount', { count: names.length })}</span>
      <Button size="small" icon="copy" onClick={() => void copy()}>
        {t('pricing.copySelected')}
      </Button>
      <Button tone="quiet" size="small" onClick={() => props.onChange(NONE)}>
        {t('ui.clearSelection')}
      </Button>
    </fieldset>
  )
}

function NoPrices({ view }: { view: PricingView }) {
  const { t } = useTranslation()
  if (!view.isFiltered) {
    return <EmptyState icon="tag" title={t('pricing.none')} body={t('pricing.noneLead')} />
  }
  return (
    <EmptyState
      icon="search"
      title={t('ui.noModelMatches')}
      body={t('ui.tryAnotherWord')}
      action={<Button onClick={view.clear}>{t('ui.clearFilters')}</Button>}
    />
  )
}
