import { type Column, column, NUMBER_COLUMN } from '#console/ui/data-grid/column.ts'
import { stamp, Time } from '#console/ui/elements/time.tsx'
import { ExactQuota } from './amounts.tsx'

type Rest<Row> = Partial<Omit<Column<Row>, 'id' | 'title' | 'width' | 'cell'>>

/** A time in unix seconds, which readers may prefer as an elapsed time. */
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

/** A number, or another value that is right-aligned and short on a card. */
export const numberColumn = <Row,>(
  id: string,
  title: string,
  width: number,
  cell: Column<Row>['cell'],
  rest: Rest<Row> = {},
): Column<Row> => column(id, title, width, cell, { ...NUMBER_COLUMN, ...rest })

/** An exact amount of quota, or a dash for null. */
export const quotaColumn = <Row,>(
  id: string,
  title: string,
  width: number,
  read: (row: Row) => number | null,
  rest: Rest<Row> = {},
): Column<Row> => numberColumn(id, title, width, (row) => <ExactQuota value={read(row)} />, rest)
