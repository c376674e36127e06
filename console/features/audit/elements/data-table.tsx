import type { ReactNode } from 'react'
import { LabelledValue } from '#console/ui/elements/labelled-value.tsx'

/** The head of a column. With `end`, the column contains numbers and is right-aligned. */
type TableHead = string | { readonly end: string }

export type TableRow = {
  readonly key: string
  readonly cells: readonly ReactNode[]
  /** The look of the row: `sum` for a total, and `bad` for a row that needs attention. */
  readonly tone?: 'sum' | 'bad'
}

/**
 * A small table. On a narrow screen, each row becomes a block in which a name precedes each value.
 */
export function DataTable(props: {
  label: string
  heads: readonly TableHead[]
  rows: readonly TableRow[]
}) {
  const names = props.heads.map((head) => (typeof head === 'string' ? head : head.end))
  const alignment = (index: number) =>
    typeof props.heads[index] === 'string' ? undefined : 'tg-audit-end'
  return (
    <table className="tg-audit-table" aria-label={props.label}>
      <thead>
        <tr>
          {names.map((name, index) => (
            <th key={name} scope="col" className={alignment(index)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map((row) => (
          <tr key={row.key} className={row.tone === undefined ? undefined : `tg-audit-${row.tone}`}>
            {row.cells.map((cell, index) => (
              <td key={names[index]} className={alignment(index)} data-name={names[index]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** A list of names with values. A value that is null, false or an empty text is left out. */
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
