import { type Column, column, NUMBER_COLUMN } from '#console/ui/data-grid/column-and-layout.ts'
import { stamp, Time } from '#console/ui/elements/time.tsx'
import { ExactQuota } from './amounts-and-hashes.tsx'

type Rest<Row> = Partial<Omit<Column<Row>, 'id' | 'title' | 'width' | 'cell'>>

/**
 * A column of times. `read` returns a row's time in Unix seconds. The user can switch the column to
 * elapsed times, such as “2 hours ago”.
 */
export const timeColumn = <Row,>(
  id: string,
  title: string,
  read: (row: Row) => number,
  rest: Rest<Row> = {},
): Column<Row> =>
  column(id, title, 164, (row) => stamp(read(row)), {
    agoCell: (row) => <Time at={read(row)} />,
    ...rest,
  })

/** A right-aligned column of numbers or other short values. */
export const numberColumn = <Row,>(
  id: string,
  title: string,
  width: number,
  cell: Column<Row>['cell'],
  rest: Rest<Row> = {},
): Column<Row> => column(id, title, width, cell, { ...NUMBER_COLUMN, ...rest })

/**
 * A right-aligned column of exact amounts. `read` returns a row's amount in quota units. Null is
 * shown as a dash.
 */
export const quotaColumn = <Row,>(
  id: string,
  title: string,
  width: number,
  read: (row: Row) => number | null,
  rest: Rest<Row> = {},
): Column<Row> => numberColumn(id, title, width, (row) => <ExactQuota value={read(row)} />, rest)
