import { type ReactElement, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { Pagination, usePageSize } from '#console/ui/pagination.tsx'
import { showError } from '#console/ui/toast.ts'
import { Toolbar } from '#console/ui/toolbar.tsx'
import { BatchPrices } from './batch-prices.tsx'
import { priceColumns } from './price-columns.tsx'
import { PriceDrawer } from './price-drawer.tsx'
import { type PriceMaps, type PriceRow, priceRows, withoutRows, withRows } from './price-table.ts'
import { useChangedModels } from './use-changed-models.ts'
import type { SettingsForm } from './use-settings-form.ts'

type Open = { row: PriceRow | 'new' } | 'batch' | null

/** The price table; what is applied here joins the page's drafts and is saved with them. */
export function PriceEditor(props: { form: SettingsForm; maps: PriceMaps }): ReactElement {
  const { form, maps } = props
  const { t } = useTranslation()
  const [open, setOpen] = useState<Open>(null)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const all = useMemo(() => priceRows(maps), [maps])
  const names = useMemo(() => new Set(all.map(({ name }) => name)), [all])
  const remove = (picked: readonly string[]) => {
    if (picked.length === 0) return showError(t('settings.batchChoose'))
    form.set(withoutRows(maps, picked))
    setChosen(new Set())
  }
  const apply = (rows: readonly PriceRow[]) => {
    form.set(withRows(maps, rows))
    setOpen(null)
  }
  const picked = all.filter(({ name }) => chosen.has(name))
  const batch = () =>
    picked.length === 0 ? showError(t('settings.batchChoose')) : setOpen('batch')
  return (
    <>
      <PriceList
        form={form}
        rows={all}
        chosen={chosen}
        onChosen={setChosen}
        onEdit={(row) => setOpen({ row })}
        onBatch={batch}
        onDelete={remove}
      />
      <PriceDrawer
        edited={open === null || open === 'batch' ? null : open.row}
        taken={names}
        onClose={() => setOpen(null)}
        onApply={(row) => apply([row])}
      />
      <BatchPrices
        isOpen={open === 'batch'}
        rows={picked}
        onClose={() => setOpen(null)}
        onApply={apply}
      />
    </>
  )
}

function PriceList(props: {
  form: SettingsForm
  rows: readonly PriceRow[]
  chosen: ReadonlySet<string>
  onChosen: (chosen: ReadonlySet<string>) => void
  onEdit: (row: PriceRow | 'new') => void
  onBatch: () => void
  onDelete: (names: readonly string[]) => void
}): ReactElement {
  const { t } = useTranslation()
  const [search, setSearch] = useState('')
  const [page, setPage] = useState(0)
  const [pageSize, setPageSize] = usePageSize('prices-page-size')
  const changed = useChangedModels(props.form)
  const { onEdit, onDelete } = props
  const columns = useMemo(
    () => priceColumns(t, { changed, onEdit, onDelete: (row) => onDelete([row.name]) }),
    [t, changed, onEdit, onDelete],
  )
  const layout = useColumnLayout('prices-table-columns', columns)
  const found = props.rows.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()))
  const last = Math.max(0, Math.ceil(found.length / pageSize) - 1)
  const shownPage = Math.min(page, last)
  return (
    <>
      <PriceToolbar
        search={search}
        onSearch={setSearch}
        chosenCount={props.chosen.size}
        onAdd={() => onEdit('new')}
        onBatch={props.onBatch}
        onDelete={() => onDelete([...props.chosen])}
      />
      <div className="tg-list-ended">
        <DataGrid
          label={t('settings.priceGrid')}
          rows={found.slice(shownPage * pageSize, (shownPage + 1) * pageSize)}
          rowKey={rowKey}
          layout={layout}
          total={found.length}
          firstIndex={shownPage * pageSize}
          onOpen={onEdit}
          maxHeight="none"
          selection={{ keys: props.chosen, onChange: props.onChosen }}
          empty={<NoPrices isFiltered={search !== ''} onAdd={() => onEdit('new')} />}
        />
      </div>
      <Pagination
        page={shownPage}
        pageSize={pageSize}
        total={found.length}
        onPage={setPage}
        onPageSize={setPageSize}
      />
    </>
  )
}

const rowKey = (row: PriceRow): string => row.name

function PriceToolbar(props: {
  search: string
  onSearch: (search: string) => void
  chosenCount: number
  onAdd: () => void
  onBatch: () => void
  onDelete: () => void
}): ReactElement {
  const { t } = useTranslation()
  const end = (
    <>
      {props.chosenCount > 0 && (
        <span className="tg-chosen-count">
          {t('settings.chosen', { count: props.chosenCount })}
        </span>
      )}
      <Button onClick={props.onBatch}>{t('settings.batchSet')}</Button>
      {props.chosenCount > 0 && (
        <Button icon="trash" onClick={props.onDelete}>
          {t('settings.deleteChosen')}
        </Button>
      )}
      <Button tone="primary" icon="add" onClick={props.onAdd}>
        {t('settings.addModel')}
      </Button>
    </>
  )
  return (
    <Toolbar label={t('settings.searchModel')} end={end}>
      <TextInput
        icon="search"
        type="search"
        aria-label={t('settings.searchModel')}
        placeholder={t('settings.searchModel')}
        value={props.search}
        onChange={props.onSearch}
      />
    </Toolbar>
  )
}

function NoPrices(props: { isFiltered: boolean; onAdd: () => void }): ReactElement {
  const { t } = useTranslation()
  if (props.isFiltered) {
    return (
      <EmptyState
        icon="search"
        title={t('settings.noMatchTitle')}
        body={t('settings.noMatchBody')}
      />
    )
  }
  return (
    <EmptyState
      icon="tag"
      title={t('settings.noPricesTitle')}
      body={t('settings.noPricesBody')}
      action={
        <Button icon="add" onClick={props.onAdd}>
          {t('settings.addModel')}
        </Button>
      }
    />
  )
}
