import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import {
  actionsColumn,
  type CardPlace,
  type Column,
  column,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { deleteAction, editAction } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { RowActions } from '#console/ui/lists/row-actions.tsx'
import { priceOfRatio, scaledPrice, shortRatio } from './price-conversion.ts'
import { isPerCall, isPriced, type PriceRow } from './price-rows.ts'
import type { UnitOfPrice } from './use-model-price-unit.ts'
import type { OutputLimitFallback } from './use-output-limit-fallback.ts'

type PriceActions = {
  capFallback: OutputLimitFallback
  unitOfPrice: UnitOfPrice
  count: Intl.NumberFormat
  changed: ReadonlySet<string>
  onEdit: (row: PriceRow) => void
  onHistory: (row: PriceRow) => void
  onDelete: (row: PriceRow) => void
}

/**
 * Returns the columns of the price table. All columns fit into a window that is 1280 pixels wide.
 */
export function priceColumns(t: TFunction, actions: PriceActions): Column<PriceRow>[] {
  const money = (
    id: string,
    title: string,
    cell: Column<PriceRow>['cell'],
    onCard: Pick<Column<PriceRow>, 'onCard' | 'cardTitle'> = { onCard: ofTokens },
  ): Column<PriceRow> => column(id, title, 126, cell, { align: 'end', ...onCard })
  return [
    column(
      'model',
      t('ui.model'),
      180,
      ({ name }) => (
        <span className="tg-name-cell">
          <span className="tg-cell-strong tg-mono">{name}</span>
          {actions.changed.has(name) && <StatusTag tone="info">{t('pricing.changed')}</StatusTag>}
        </span>
      ),
      TITLE_COLUMN,
    ),
    column('mode', t('ui.billing'), 100, (row) => <ModeTag row={row} actions={actions} />, {
      onCard: 'aside',
    }),
    money(
      'input',
      t('pricing.inputPrice'),
      (row) =>
        isPerCall(row) ? (
          <Amount dollars={row.price} unit={t(`ui.per${actions.unitOfPrice(row.name)}`)} />
        ) : (
          <Amount dollars={priceOfRatio(row.ratio)} unit={ratioText(row.ratio)} />
        ),
      { cardTitle: (row) => t(isPerCall(row) ? 'pricing.price' : 'pricing.inputPrice') },
    ),
    money('output', t('pricing.outputPrice'), (row) =>
      row.completionRatio === '' && row.ratio !== '' ? (
        <span className="tg-quiet">{t('pricing.builtIn')}</span>
      ) : (
        <Amount
          dollars={scaledPrice(row.ratio, row.completionRatio)}
          unit={ratioText(row.completionRatio)}
        />
      ),
    ),
    money('cache', t('pricing.cachePrice'), (row) => (
      <Amount dollars={scaledPrice(row.ratio, row.cacheRatio)} unit={ratioText(row.cacheRatio)} />
    )),
    column(
      'maxOutput',
      t('pricing.maxOutput'),
      112,
      (row) => <OutputLimit row={row} actions={actions} />,
      { align: 'end', onCard: ofTokens },
    ),
    actionsColumn(t, 124, (row) => <Actions row={row} actions={actions} />),
  ]
}

/**
 * Returns the place on a card for a value that only prices by tokens have. The card of a model with
 * a fixed price hides such a value.
 */
const ofTokens = (row: PriceRow): CardPlace => (isPerCall(row) ? 'hidden' : 'line')

type RowProps = { row: PriceRow; actions: PriceActions }

function Actions({ row, actions }: RowProps) {
  const { t } = useTranslation()
  const { name } = row
  const history = { icon: 'clock', perform: () => actions.onHistory(row) } as const
  return (
    <RowActions
      actions={[
        editAction(() => actions.onEdit(row), t('pricing.editModel', { name })),
        { ...history, title: t('pricing.historyOf', { name }) },
        deleteAction(() => actions.onDelete(row), t('pricing.deleteModel', { name })),
      ]}
    />
  )
}

function ModeTag({ row, actions }: RowProps) {
  const { t } = useTranslation()
  const isPlain = isPriced(row)
  const ofCall = `per${actions.unitOfPrice(row.name)}` as const
  const mode = isPerCall(row) ? ofCall : isPlain ? 'perToken' : 'unpriced'
  return (
    <StatusTag tone={isPlain ? 'neutral' : 'warn'} isPlain={isPlain}>
      {t(`pricing.${mode}`)}
    </StatusTag>
  )
}

const ratioText = (ratio: string): string => (ratio === '' ? '' : `×${shortRatio(ratio)}`)

function Amount({ dollars, unit }: { dollars: string; unit: string }) {
  if (dollars === '') return <span className="tg-quiet">–</span>
  return (
    <span className="tg-price">
      <span>${centsText(dollars)}</span>
      <span className="tg-quiet">{unit}</span>
    </span>
  )
}

function OutputLimit({ row, actions }: RowProps) {
  const { t } = useTranslation()
  if (isPerCall(row)) return <span className="tg-quiet">–</span>
  if (row.maxOutputTokens !== '') return <>{actions.count.format(Number(row.maxOutputTokens))}</>
  const { tokens, isBuiltIn } = actions.capFallback(row.name)
  return (
    <span className="tg-price tg-quiet">
      <span>{tokens === null ? '–' : actions.count.format(tokens)}</span>
      <span>{t(isBuiltIn ? 'pricing.builtIn' : 'shared.default')}</span>
    </span>
  )
}

function centsText(dollars: string): string {
  const [integer = '0', fraction = ''] = dollars.split('.')
  return `${integer}.${fraction.padEnd(2, '0')}`
}
