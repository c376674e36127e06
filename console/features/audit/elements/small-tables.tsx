import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { LabelledValues, type NamedValue } from '#console/ui/elements/labelled-value.tsx'
import { AlignedColumn, useAmountAlignments } from '#console/ui/quota/amount-text.tsx'
import { QuotaChange } from './amounts-and-hashes.tsx'

/**
 * The heading of a column. The form `{ end: heading }` is for numbers. This form aligns the column
 * to the right, and amounts at the decimal point.
 */
type TableHead = string | { readonly end: string }

export type TableRow = {
  readonly key: string
  readonly cells: readonly ReactNode[]
  /** The look of the row: `sum` for a total, and `bad` for a row that needs attention. */
  readonly tone?: 'sum' | 'bad'
}

/**
 * A small table. On a narrow screen, each row becomes a block, and each value follows the name of
 * its column. Set `isShort` for a table with few and narrow columns. Such a table fits on a narrow
 * screen and keeps its rows.
 */
export function DataTable(props: {
  label: string
  isShort?: boolean
  heads: readonly TableHead[]
  rows: readonly TableRow[]
}) {
  const names = props.heads.map((head) => (typeof head === 'string' ? head : head.end))
  const alignmentOf = useAmountAlignments()
  const classOf = (index: number) =>
    typeof props.heads[index] === 'string' ? undefined : 'tg-audit-end'
  return (
    <table
      className={`tg-audit-table ${props.isShort === true ? 'tg-audit-short' : 'tg-audit-blocks'}`}
      aria-label={props.label}
    >
      <thead>
        <tr>
          {names.map((name, index) => (
            <th key={name} scope="col" className={classOf(index)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map((row) => (
          <tr key={row.key} className={row.tone === undefined ? undefined : `tg-audit-${row.tone}`}>
            {row.cells.map((cell, index) => (
              <td key={names[index]} className={classOf(index)} data-name={names[index]}>
                <AlignedColumn alignment={alignmentOf(String(index))}>{cell}</AlignedColumn>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** A list of facts. Values that are null, false or empty are left out. */
export const Facts = ({ facts }: { facts: readonly NamedValue[] }) => (
  <LabelledValues className="tg-audit-facts" values={facts} />
)

type TableColumn<Row> = readonly [head: TableHead, cell: (row: Row) => ReactNode]

/**
 * A table with one line for each item of `rows`. Each column has a heading and a function that
 * returns the cell of a row. A column that is false is left out. `initialRows` is the number of
 * rows that are shown before the user asks for all rows.
 */
export function ColumnTable<Row>(props: {
  label: string
  isShort?: boolean
  initialRows?: number
  columns: readonly (TableColumn<Row> | false)[]
  rows: readonly Row[]
  rowKey: (row: Row, index: number) => string
  isBad?: (row: Row) => boolean
}) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const [showsAll, setShowsAll] = useState(false)
  const { columns, rows, rowKey, isBad, initialRows, ...rest } = props
  const shown = columns.filter((column) => column !== false)
  const rowsShown = showsAll ? rows : rows.slice(0, initialRows)
  return (
    <>
      <DataTable
        {...rest}
        heads={shown.map(([head]) => head)}
        rows={rowsShown.map((row, index) => ({
          key: rowKey(row, index),
          ...(isBad?.(row) === true ? { tone: 'bad' as const } : {}),
          cells: shown.map(([, cell]) => cell(row)),
        }))}
      />
      {rowsShown.length < rows.length && (
        <Button size="small" className="tg-audit-more-results" onClick={() => setShowsAll(true)}>
          {t('audit.history.showAll', { number: number.format(rows.length) })}
        </Button>
      )}
    </>
  )
}

type Change = {
  readonly name: string
  readonly before: string | null
  readonly after: string | null
}

/** Lists changed values as they were before and after the change. */
export function ChangesTable(props: { label: string; changes: readonly Change[] }) {
  const { t } = useTranslation()
  return (
    <ColumnTable
      label={props.label}
      rows={props.changes}
      rowKey={({ name }) => name}
      columns={[
        [t('audit.call.value'), ({ name }) => <code>{name}</code>],
        [t('audit.before'), ({ before }) => (before === null ? '–' : <del>{before}</del>)],
        [t('audit.after'), ({ after }) => (after === null ? '–' : <ins>{after}</ins>)],
      ]}
    />
  )
}

type SumRow = { readonly name: string; readonly count: number; readonly amount: number }

/**
 * Shows the number and the sum of movements, grouped by type of movement, model, channel or day.
 * `head` is the heading of the column that contains the groups.
 */
export function SumTable(props: { title: string; head: string; rows: readonly SumRow[] }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { title, head, rows } = props
  return (
    <section className="tg-ledger-sums">
      <h3>{title}</h3>
      <ColumnTable
        label={title}
        isShort
        rows={rows}
        rowKey={({ name }) => name}
        columns={[
          [head, ({ name }) => name],
          [{ end: t('audit.ledger.count') }, ({ count }) => number.format(count)],
          [{ end: t('shared.amount') }, ({ amount }) => <QuotaChange value={amount} />],
        ]}
      />
    </section>
  )
}
