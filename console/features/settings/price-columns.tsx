import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import type { Column } from '#console/ui/data-grid/column.ts'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { RowActions } from '#console/ui/lists/row-actions.tsx'
import { formatDecimal, multiply, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import { outputPrice, priceOfRatio, shortRatio } from './price-conversion.ts'
import { isPerCall, isPriced, type PriceRow } from './price-table.ts'
import type { CapFallback } from './use-output-limit-fallback.ts'

type PriceActions = {
  capFallback: CapFallback
  count: Intl.NumberFormat
  changed: ReadonlySet<string>
  onEdit: (row: PriceRow) => void
  onHistory: (row: PriceRow) => void
  onDelete: (row: PriceRow) => void
}

/**
 * Creates the columns of the price table. A cell shows dollars with the ratio below. All columns
 * fit into a window of 1 280 pixels.
 */
export function priceColumns(t: TFunction, actions: PriceActions): Column<PriceRow>[] {
  const money = (id: string, title: string, cell: Column<PriceRow>['cell']): Column<PriceRow> => ({
    id,
    title,
    width: 126,
    align: 'end',
    cell,
  })
  return [
    {
      id: 'model',
      title: t('ui.model'),
      width: 180,
      isGrowing: true,
      isPinned: true,
      onCard: 'title',
      cell: ({ name }) => (
        <span className="tg-name-cell">
          <span className="tg-cell-strong tg-mono">{name}</span>
          {actions.changed.has(name) && <StatusTag tone="info">{t('settings.changed')}</StatusTag>}
        </span>
      ),
    },
    {
      id: 'mode',
      title: t('ui.billing'),
      width: 100,
      onCard: 'aside',
      cell: (row) => (
        <StatusTag tone={isPriced(row) ? 'neutral' : 'warn'} isPlain={isPriced(row)}>
          {t(modeWords(row))}
        </StatusTag>
      ),
    },
    money('input', t('settings.inputPrice'), (row) =>
      isPerCall(row) ? (
        <Amount dollars={row.price} unit={t('ui.perCall')} />
      ) : (
        <Amount dollars={priceOfRatio(row.ratio)} unit={ratioText(row.ratio)} />
      ),
    ),
    money('output', t('settings.outputPrice'), (row) =>
      row.completionRatio === '' && row.ratio !== '' ? (
        <span className="tg-quiet">{t('settings.builtIn')}</span>
      ) : (
        <Amount
          dollars={outputPrice(row.ratio, row.completionRatio)}
          unit={ratioText(row.completionRatio)}
        />
      ),
    ),
    money('cache', t('settings.cachePrice'), (row) => (
      <Amount dollars={cachePrice(row)} unit={ratioText(row.cacheRatio)} />
    )),
    outputCapColumn(t, actions),
    actionsColumn(t, actions),
  ]
}

const outputCapColumn = (t: TFunction, actions: PriceActions): Column<PriceRow> => ({
  id: 'maxOutput',
  title: t('settings.maxOutput'),
  width: 112,
  align: 'end',
  cell: (row) => <OutputCap row={row} actions={actions} />,
})

function actionsColumn(t: TFunction, actions: PriceActions): Column<PriceRow> {
  return {
    id: 'actions',
    title: t('words.actions'),
    width: 124,
    isPinned: true,
    align: 'end',
    onCard: 'foot',
    cell: (row) => (
      <RowActions
        acts={[
          {
            icon: 'edit',
            label: t('settings.editModel', { name: row.name }),
            act: () => actions.onEdit(row),
            isOnTable: true,
          },
          {
            icon: 'clock',
            label: t('prices.historyOf', { name: row.name }),
            act: () => actions.onHistory(row),
          },
          {
            icon: 'trash',
            label: t('settings.deleteModel', { name: row.name }),
            act: () => actions.onDelete(row),
          },
        ]}
      />
    ),
  }
}

function modeWords(row: PriceRow) {
  if (isPerCall(row)) return 'settings.perCall' as const
  return isPriced(row) ? ('settings.perToken' as const) : ('settings.unpriced' as const)
}

const ratioText = (ratio: string): string => (ratio === '' ? '' : `×${shortRatio(ratio)}`)

function cachePrice(row: PriceRow): string {
  const [price, share] = [parseDecimal(priceOfRatio(row.ratio)), parseDecimal(row.cacheRatio)]
  return price === null || share === null ? '' : formatDecimal(multiply(price, share))
}

function Amount({ dollars, unit }: { dollars: string; unit: string }) {
  if (dollars === '') return <span className="tg-quiet">–</span>
  return (
    <span className="tg-price">
      <span>${centsText(dollars)}</span>
      <span className="tg-quiet">{unit}</span>
    </span>
  )
}

/**
 * The model's output limit. If the model has no limit, the default limit is shown. A model with a
 * price per call needs no limit.
 */
function OutputCap({ row, actions }: { row: PriceRow; actions: PriceActions }) {
  const { t } = useTranslation()
  if (isPerCall(row)) return <span className="tg-quiet">–</span>
  if (row.maxOutputTokens !== '') return <>{actions.count.format(Number(row.maxOutputTokens))}</>
  const { tokens, isBuiltIn } = actions.capFallback(row.name)
  return (
    <span className="tg-price tg-quiet">
      <span>{tokens === null ? '–' : actions.count.format(tokens)}</span>
      <span>{t(isBuiltIn ? 'settings.builtIn' : 'settings.capDefault')}</span>
    </span>
  )
}

/** Formats a price with all decimals, at least two. */
function centsText(dollars: string): string {
  const [whole = '0', fraction = ''] = dollars.split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}
