import { type Column, column, NUMBER_COLUMN } from '#console/ui/data-grid/column.ts'
import { stamp, Time } from '#console/ui/elements/time.tsx'
import { ExactQuota } from './amounts.tsx'

type Rest<Row> = Partial<Omit<Column<Row>, 'id' | 'title' | 'width' | 'cell'>>

/** A column with a time in unix seconds. The user can show it as an elapsed time. */
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

/** A column with a number or another short value. It is right-aligned. */
export const numberColumn = <Row,>(
  id: string,
  title: string,
  width: number,
  cell: Column<Row>['cell'],
  rest: Rest<Row> = {},
): Column<Row> => column(id, title, width, cell, { ...NUMBER_COLUMN, ...rest })

/** A column with an amount in quota units, which is not rounded. Null is shown as a dash. */
export const quotaColumn = <Row,>(
  id: string,
  title: string,
  width: number,
  read: (row: Row) => number | null,
  rest: Rest<Row> = {},
): Column<Row> => numberColumn(id, title, width, (row) => <ExactQuota value={read(row)} />, rest)
