import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { LabelledValue } from '#console/ui/elements/labelled-value.tsx'
import { AlignedColumn, useAmountAlignments } from '#console/ui/quota/amount-text.tsx'
import { QuotaChange } from './amounts-and-hashes.tsx'

/**
 * The heading of a column. The form `{ end: heading }` makes the column right-aligned, which suits
 * numbers, and aligns its amounts at the decimal point.
 */
type TableHead = string | { readonly end: string }

export type TableRow = {
  readonly key: string
  readonly cells: readonly ReactNode[]
  /** The look of the row: `sum` for a total, and `bad` for a row that needs attention. */
  readonly tone?: 'sum' | 'bad'
}

/**
 * A small table. On a narrow screen, each row becomes a block in which each value follows the name
 * of its column. `isShort` is true for a table whose columns are few and narrow, so that it fits on
 * every screen.
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

/** A list of names with values. Values that are null, false or empty are left out. */
export function Facts(props: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="tg-audit-facts">
      {props.facts
        .filter(([, value]) => value !== null && value !== false && value !== '')
        .map(([name, value]) => (
          <LabelledValue key={name} name={name}>
            {value}
          </LabelledValue>
        ))}
    </dl>
  )
}

type SumRow = { readonly name: string; readonly count: number; readonly amount: number }

/**
 * Shows the number and the sum of movements by type of movement, model, channel or day. `head` is
 * the name of this criterion.
 */
export function SumTable(props: { title: string; head: string; rows: readonly SumRow[] }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { title, head, rows } = props
  return (
    <section className="tg-ledger-sums">
      <h3>{title}</h3>
      <DataTable
        label={title}
        isShort
        heads={[head, { end: t('audit.ledger.count') }, { end: t('audit.ledger.amount') }]}
        rows={rows.map(({ name, count, amount }) => ({
          key: name,
          cells: [name, number.format(count), <QuotaChange key="amount" value={amount} />],
        }))}
      />
    </section>
  )
}
