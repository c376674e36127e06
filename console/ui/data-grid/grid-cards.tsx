import { useTranslation } from 'react-i18next'
import { Icon } from '../elements/icons.tsx'
import type { CardPlace, Column } from './column-and-layout.ts'
import type { DataGridProps } from './grid-props-and-row-heights.ts'
import type { Grid } from './use-grid.ts'

type CardProps<Row> = { props: DataGridProps<Row>; grid: Grid<Row>; row: Row; index: number }

export function GridCard<Row>(rowProps: CardProps<Row>) {
  const { props, grid, row, index } = rowProps
  const { t } = useTranslation()
  const shown = props.layout.visible
  const title = shown.find((column) => placeOf(column, row) === 'title') ?? shown[0]
  const isExpanded = props.expand !== undefined && grid.isExpanded(row)
  const canOpen = (props.onOpen ?? props.expand) !== undefined
  const placed = (...places: CardPlace[]) =>
    shown.filter((column) => column !== title && places.includes(placeOf(column, row)))
  const brief = placed('brief', 'bare')
  // Values without labels are on the first line. The first value with a label begins the second
  // line.
  const firstNamed = Math.max(
    0,
    brief.findIndex((column) => placeOf(column, row) === 'brief'),
  )
  const more = canOpen && <CardFootButton {...rowProps} isBare={brief.length > 0} />
  return (
    <article className={cardClass(props, row)}>
      <header>
        {canOpen && <CardHeadButton {...rowProps} />}
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
      {props.cardNote?.(row)}
      <CardLines columns={placed('line')} row={row} />
      <div className="tg-card-foot">
        <CardBrief columns={brief.slice(0, firstNamed)} row={row} />
        <CardBrief columns={brief.slice(firstNamed)} row={row} />
        {brief.length === 0 && more}
        <div className="tg-card-end">
          <CardActions columns={placed('foot')} row={row} />
          {brief.length > 0 && more}
        </div>
      </div>
      {isExpanded && <CardLines columns={placed('more')} row={row} />}
      {isExpanded && <div className="tg-grid-details">{props.expand?.(row)}</div>}
    </article>
  )
}

/**
 * A button over the head of a card. It opens the row if the list has `onOpen`, and otherwise
 * expands the card. Other controls in the head still work.
 */
function CardHeadButton<Row>({ props, grid, row, index }: CardProps<Row>) {
  return (
    <button
      type="button"
      className="tg-card-opener"
      aria-label={useOpenText(props, grid.isExpanded(row))}
      aria-expanded={props.expand === undefined ? undefined : grid.isExpanded(row)}
      onClick={() => grid.open(index)}
    />
  )
}

/**
 * A second button at the bottom of a card, for touch screens. It is hidden from the keyboard and
 * from screen readers, which use the button in the head.
 */
function CardFootButton<Row>(rowProps: CardProps<Row> & { isBare: boolean }) {
  const { props, grid, row, index, isBare } = rowProps
  const isExpanded = props.expand !== undefined && grid.isExpanded(row)
  const openText = useOpenText(props, isExpanded)
  return (
    <button
      type="button"
      className="tg-card-more"
      tabIndex={-1}
      aria-hidden="true"
      onClick={() => grid.open(index)}
    >
      {!isBare && openText}
      <Icon name={isExpanded ? 'chevronUp' : 'chevronRight'} size={14} />
    </button>
  )
}

function useOpenText<Row>(props: DataGridProps<Row>, isExpanded: boolean): string {
  const { t } = useTranslation()
  if (props.expand === undefined) return props.openText ?? t('ui.editRow')
  return t(isExpanded ? 'ui.collapseRow' : 'ui.expandRow')
}

function cardClass<Row>(props: DataGridProps<Row>, row: Row): string {
  const classes = ['tg-card']
  if (props.isMuted?.(row) === true) classes.push('tg-grid-row-muted')
  if (props.isFresh?.(row) === true) classes.push('tg-grid-row-fresh')
  return classes.join(' ')
}

const placeOf = <Row,>({ onCard = 'line' }: Column<Row>, row: Row): CardPlace =>
  typeof onCard === 'function' ? onCard(row) : onCard

const titleOf = <Row,>({ title, cardTitle }: Column<Row>, row: Row): string =>
  cardTitle?.(row) ?? title

type Lines<Row> = { columns: readonly Column<Row>[]; row: Row }

const filled = <Row,>({ columns, row }: Lines<Row>) =>
  columns
    .map((one) => ({ id: one.id, title: titleOf(one, row), value: one.cell(row) }))
    .filter(({ value }) => value !== undefined && value !== null && value !== '')

function CardBrief<Row>(props: Lines<Row>) {
  if (props.columns.length === 0) return null
  return (
    <dl className="tg-card-brief">
      {props.columns.map((column) => (
        <div key={column.id}>
          <dt className={placeOf(column, props.row) === 'bare' ? 'tg-visually-hidden' : undefined}>
            {titleOf(column, props.row)}
          </dt>
          <dd>{column.cell(props.row)}</dd>
        </div>
      ))}
    </dl>
  )
}

function CardActions<Row>(props: Lines<Row>) {
  const actions = filled(props)
  if (actions.length === 0) return null
  return (
    <div className="tg-card-acts">
      {actions.map(({ id, value }) => (
        <span key={id}>{value}</span>
      ))}
    </div>
  )
}

function CardLines<Row>(props: Lines<Row>) {
  if (props.columns.length === 0) return null
  return (
    <dl>
      {filled(props).map(({ id, title, value }) => (
        <div key={id}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
