import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { Button, CreateButton } from '#console/ui/elements/button.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Pagination, usePageSize } from '#console/ui/lists/pagination.tsx'
import { Toolbar } from '#console/ui/lists/toolbar.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import { isSameNumber } from '#console/ui/quota/exact-decimal.ts'
import { BulkDrawer } from './bulk-price-drawer.tsx'
import { readJsonMap } from './json-map.ts'
import { priceColumns } from './price-columns.tsx'
import { PriceDrawer } from './price-drawer.tsx'
import { ModelHistoryDrawer } from './price-history.tsx'
import {
  emptyRow,
  PRICE_KEYS,
  type PriceMaps,
  type PriceRow,
  priceRows,
  withoutRows,
  withRows,
} from './price-rows.ts'
import { useMediaPrices } from './use-media-prices.ts'
import { type UnitOfPrice, useUnitOfPrice } from './use-model-price-unit.ts'
import { type OutputLimitFallback, useOutputLimitFallback } from './use-output-limit-fallback.ts'
import { useScrollToRow } from './use-scroll-to-row.ts'
import { type SettingsForm, usePausedRefresh } from './use-settings-form.ts'

type Open = { row: PriceRow | 'new' } | { historyOf: string } | 'bulk' | null

/** Edits prices. The changes are saved only when the settings page is saved. */
export function PriceEditor(props: { form: SettingsForm; maps: PriceMaps }) {
  const { form, maps } = props
  const { t } = useTranslation()
  const [open, setOpen] = useState<Open>(null)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const close = () => setOpen(null)
  const { added, apply, applyOne } = useAppliedRows(form, maps, close)
  usePausedRefresh(form, open !== null)
  const capFallback = useOutputLimitFallback(form)
  const mediaPricesOf = useMediaPrices(form)
  const unitOfPrice = useUnitOfPrice(form)
  const all = useMemo(() => priceRows(maps), [maps])
  const names = useMemo(() => new Set(all.map(({ name }) => name)), [all])
  const none = () => showError(t('pricing.bulkSelectFirst'))
  const remove = (selectedRows: readonly string[]) => {
    if (selectedRows.length === 0) return none()
    form.set(withoutRows(maps, selectedRows))
    setSelected(new Set())
  }
  const part = open === 'bulk' ? null : open
  const historyOf = part !== null && 'historyOf' in part ? part.historyOf : null
  const selectedRows = all.filter(({ name }) => selected.has(name))
  const bulkEdit = () => (selectedRows.length === 0 ? none() : setOpen('bulk'))
  return (
    <>
      <PriceList
        form={form}
        capFallback={capFallback}
        unitOfPrice={unitOfPrice}
        rows={all}
        added={added}
        selected={selected}
        onSelected={setSelected}
        onEdit={(row) => setOpen({ row })}
        onHistory={({ name }) => setOpen({ historyOf: name })}
        onBulkEdit={bulkEdit}
        onDelete={remove}
      />
      <PriceDrawer
        capFallback={capFallback}
        mediaPricesOf={mediaPricesOf}
        unitOfPrice={unitOfPrice}
        edited={part !== null && 'row' in part ? part.row : null}
        existingNames={names}
        onClose={close}
        onApply={applyOne}
      />
      <ModelHistoryDrawer model={historyOf} onClose={close} />
      <BulkDrawer
        isOpen={open === 'bulk'}
        rows={selectedRows}
        unitOfPrice={unitOfPrice}
        onClose={close}
        onApply={apply}
      />
    </>
  )
}

/**
 * Returns the functions that put the rows of a drawer into the settings form, and the row that was
 * added or renamed last.
 */
function useAppliedRows(form: SettingsForm, maps: PriceMaps, onApplied: () => void) {
  const [added, setAdded] = useState<{ key: string } | null>(null)
  const apply = (rows: readonly PriceRow[], before: string | null = null) => {
    const [row] = rows
    const isRenamed = before !== null && before !== row?.name
    form.set(withRows(maps, isRenamed ? [emptyRow(before), ...rows] : rows))
    onApplied()
  }
  const applyOne = (row: PriceRow, before: string | null) => {
    apply([row], before)
    if (row.name !== before) setAdded({ key: row.name })
  }
  return { added, apply, applyOne }
}

function PriceList(props: {
  form: SettingsForm
  capFallback: OutputLimitFallback
  unitOfPrice: UnitOfPrice
  rows: readonly PriceRow[]
  /**
   * The row that was added or renamed last. Each new object makes the list scroll to the row, even
   * if the key is the same as before.
   */
  added: { key: string } | null
  selected: ReadonlySet<string>
  onSelected: (selected: ReadonlySet<string>) => void
  onEdit: (row: PriceRow | 'new') => void
  onHistory: (row: PriceRow) => void
  onBulkEdit: () => void
  onDelete: (names: readonly string[]) => void
}) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState<{ text: string; since: typeof props.added }>(NOT_SEARCHED)
  // An added row clears the search, because the search could hide the row.
  const search = typed.since === props.added ? typed.text : ''
  const [pageSize, setPageSize] = usePageSize('prices-page-size')
  const changed = useChangedModels(props.form)
  const { capFallback, unitOfPrice, onEdit, onHistory, onDelete } = props
  const count = useNumberFormat()
  const columns = useMemo(
    () =>
      priceColumns(t, {
        capFallback,
        unitOfPrice,
        count,
        changed,
        onEdit,
        onHistory,
        onDelete: (row) => onDelete([row.name]),
      }),
    [t, capFallback, unitOfPrice, count, changed, onEdit, onHistory, onDelete],
  )
  const layout = useColumnLayout('prices-table-columns', columns)
  const matchingRows = useMemo(
    () => props.rows.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase())),
    [props.rows, search],
  )
  const rowKeys = useMemo(() => matchingRows.map(rowKey), [matchingRows])
  const { rowsElement, page, setPage } = useScrollToRow(props.added, rowKeys, pageSize)
  return (
    <>
      <PriceToolbar
        search={search}
        onSearch={(text) => setTyped({ text, since: props.added })}
        selectedCount={props.selected.size}
        onAdd={() => onEdit('new')}
        onBulkEdit={props.onBulkEdit}
        onDelete={() => onDelete([...props.selected])}
      />
      <div className="tg-list-ended" ref={rowsElement}>
        <DataGrid
          label={t('pricing.priceGrid')}
          rows={matchingRows.slice(page * pageSize, (page + 1) * pageSize)}
          rowKey={rowKey}
          layout={layout}
          total={matchingRows.length}
          firstIndex={page * pageSize}
          isFresh={({ name }) => name === props.added?.key}
          onOpen={onEdit}
          maxHeight="none"
          selection={{ keys: props.selected, onChange: props.onSelected }}
          empty={<NoPrices isFiltered={search !== ''} onAdd={() => onEdit('new')} />}
        />
      </div>
      <Pagination
        page={page}
        pageSize={pageSize}
        total={matchingRows.length}
        onPage={setPage}
        onPageSize={setPageSize}
      />
    </>
  )
}

const NOT_SEARCHED = { text: '', since: null }
const rowKey = (row: PriceRow): string => row.name

function PriceToolbar(props: {
  search: string
  onSearch: (search: string) => void
  selectedCount: number
  onAdd: () => void
  onBulkEdit: () => void
  onDelete: () => void
}) {
  const { t } = useTranslation()
  const end = (
    <>
      {props.selectedCount > 0 && (
        <>
          <span className="tg-selection-count">
            {t('ui.selectedCount', { count: props.selectedCount })}
          </span>
          <Button onClick={props.onBulkEdit}>{t('pricing.bulkSet')}</Button>
          <Button icon="trash" onClick={props.onDelete}>
            {t('shared.deleteSelected')}
          </Button>
        </>
      )}
      <CreateButton text={t('pricing.addModel')} onClick={props.onAdd} />
    </>
  )
  return (
    <Toolbar label={t('ui.searchModelNames')} end={end}>
      <TextInput
        icon="search"
        type="search"
        aria-label={t('ui.searchModelNames')}
        placeholder={t('ui.searchModelNames')}
        value={props.search}
        onChange={props.onSearch}
      />
    </Toolbar>
  )
}

function NoPrices(props: { isFiltered: boolean; onAdd: () => void }) {
  const { t } = useTranslation()
  if (props.isFiltered) {
    return (
      <EmptyState icon="search" title={t('ui.noModelMatches')} body={t('pricing.noMatchBody')} />
    )
  }
  return (
    <EmptyState
      icon="tag"
      title={t('pricing.noPricesTitle')}
      body={t('pricing.noPricesBody')}
      action={
        <Button icon="add" onClick={props.onAdd}>
          {t('pricing.addModel')}
        </Button>
      }
    />
  )
}

function useChangedModels(form: SettingsForm): ReadonlySet<string> {
  const { changes } = form
  return useMemo(() => {
    const names = new Set<string>()
    for (const { key, before, after } of changes) {
      if (!PRICE_KEYS.some((other) => other === key)) continue
      const [old, fresh] = [readJsonMap(before), readJsonMap(after)]
      for (const [name, value] of fresh ?? []) {
        if (!isSameNumber(old?.get(name) ?? '', value)) names.add(name)
      }
      for (const name of old?.keys() ?? []) if (fresh?.has(name) === false) names.add(name)
    }
    return names
  }, [changes])
}
