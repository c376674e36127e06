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
  const isExpanded = props.expand !== undefined && grid.isExpanded(row)
  const placed = (place: Column<Row>['onCard']) =>
    shown.filter((column) => column !== title && (column.onCard ?? 'line') === place)
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
          {placed('aside').map((column) => (
            <span key={column.id}>{column.cell(row)}</span>
          ))}
        </div>
      </header>
      <CardLines columns={placed('line')} row={row} />
      <div className="tg-card-foot">
        <CardBrief columns={placed('brief')} row={row} />
        {(props.onOpen ?? props.expand) !== undefined && (
          <button
            type="button"
            className="tg-card-more"
            aria-expanded={props.expand === undefined ? undefined : isExpanded}
            onClick={() => grid.open(index)}
          >
            {props.expand === undefined && t('ui.editRow')}
            {props.expand !== undefined && t(isExpanded ? 'ui.collapseRow' : 'ui.expandRow')}
            <Icon name={isExpanded ? 'chevronUp' : 'chevronRight'} size={14} />
          </button>
        )}
      </div>
      {isExpanded && <CardLines columns={placed('more')} row={row} />}
      {isExpanded && <div className="tg-grid-details">{props.expand?.(row)}</div>}
    </article>
  )
}

type Lines<Row> = { columns: readonly Column<Row>[]; row: Row }

/** Values that speak for themselves in one line; numbers keep their names. */
function CardBrief<Row>(props: Lines<Row>): ReactElement | null {
  if (props.columns.length === 0) return null
  return (
    <dl className="tg-card-brief">
      {props.columns.map((column) => (
        <div key={column.id}>
          <dt className={column.align === 'end' ? undefined : 'tg-visually-hidden'}>
            {column.title}
          </dt>
          <dd>{column.cell(props.row)}</dd>
        </div>
      ))}
    </dl>
  )
}

function CardLines<Row>(props: Lines<Row>): ReactElement | null {
  if (props.columns.length === 0) return null
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
