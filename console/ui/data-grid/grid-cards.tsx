import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '../icons.tsx'
import type { Column } from './column.ts'
import type { DataGridProps } from './grid-props.ts'
import type { Grid } from './use-grid.ts'

/** The rows as cards, for narrow screens: the title column above, the others as lines. */
export function GridCard<Row>(given: {
  props: DataGridProps<Row>
  grid: Grid<Row>
  row: Row
  index: number
}): ReactElement {
  const { props, grid, row, index } = given
  const { t } = useTranslation()
  const shown = props.layout.shown
  const title = shown.find((column) => column.onCard === 'title') ?? shown[0]
  const aside = shown.filter((column) => column.onCard === 'aside')
  const lines = shown.filter((column) => column !== title && (column.onCard ?? 'line') === 'line')
  const isExpanded = props.expand !== undefined && grid.isExpanded(row)
  return (
    <article className={props.isMuted?.(row) === true ? 'tg-card tg-grid-row-muted' : 'tg-card'}>
      <header>
        {props.selection !== undefined && (
          <input
            type="checkbox"
            className="tg-check"
            aria-label={t('ui.selectRow')}
            checked={props.selection.keys.has(props.rowKey(row))}
            onChange={() => grid.select(index, false)}
          />
        )}
        <div className="tg-card-title">{title?.cell(row)}</div>
        <div className="tg-card-aside">
          {aside.map((column) => (
            <span key={column.id}>{column.cell(row)}</span>
          ))}
        </div>
      </header>
      <CardLines columns={lines} row={row} />
      {(props.onOpen ?? props.expand) !== undefined && (
        <button
          type="button"
          className="tg-card-more"
          aria-expanded={props.expand === undefined ? undefined : isExpanded}
          onClick={() => grid.open(index)}
        >
          {isExpanded ? t('ui.collapseRow') : t('ui.expandRow')}
          <Icon name={isExpanded ? 'chevronUp' : 'chevronRight'} size={14} />
        </button>
      )}
      {isExpanded && <div className="tg-grid-details">{props.expand?.(row)}</div>}
    </article>
  )
}

function CardLines<Row>(props: { columns: readonly Column<Row>[]; row: Row }): ReactElement {
  return (
    <dl>
      {props.columns.map((column) => (
        <div key={column.id}>
          <dt>{column.title}</dt>
          <dd>{column.cell(props.row)}</dd>
        </div>
      ))}
    </dl>
  )
}
