import type { TFunction } from 'i18next'
import type { ReactNode } from 'react'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'

/**
 * The place of a value on a card:
 * - `title`, `aside`: in the heading.
 * - `line` (the default): on a line with a label.
 * - `brief`: with a label, on one line with other values.
 * - `bare`: without a label, on one line with other values.
 * - `more`: in the part that the user can expand.
 * - `foot`: at the bottom.
 * - `hidden`: not on the card.
 */
export type CardPlace = 'title' | 'aside' | 'line' | 'brief' | 'bare' | 'more' | 'foot' | 'hidden'

export type Column<Row> = {
  readonly id: string
  readonly title: string
  /**
   * The text in the header. The default is `title`. If a column has a shorter heading, the tooltip
   * of the header shows `title`.
   */
  readonly heading?: string
  readonly cell: (row: Row) => ReactNode
  /** Renders the cell while the list shows how long ago a time was, such as "5 minutes ago". */
  readonly agoCell?: (row: Row) => ReactNode
  /**
   * The initial width (px). A column with amounts (`.tg-amount`) becomes wider if the amounts do
   * not fit.
   */
  readonly width: number
  readonly minWidth?: number
  readonly isGrowing?: boolean
  /**
   * `end` is for columns of numbers. The cells of such a column are right-aligned, and all digits
   * have the same width.
   */
  readonly align?: 'start' | 'end'
  readonly isSortable?: boolean
  readonly isPinned?: boolean
  readonly isHiddenAtFirst?: boolean
  /** The place of the value on a card. The place may depend on the row. */
  readonly onCard?: CardPlace | ((row: Row) => CardPlace)
  /** The label on a card, if it depends on the row. The default is `title`. */
  readonly cardTitle?: (row: Row) => string
}

type Cell<Row> = Column<Row>['cell']
type OptionalColumnProps<Row> = Partial<Omit<Column<Row>, 'id' | 'title' | 'width' | 'cell'>>

export const column = <Row>(
  id: string,
  title: string,
  width: number,
  cell: Cell<Row>,
  rest: OptionalColumnProps<Row> = {},
): Column<Row> => ({ id, title, width, cell, ...rest })

export const TITLE_COLUMN = { isGrowing: true, isPinned: true, onCard: 'title' } as const

export const HIDDEN_COLUMN = { isHiddenAtFirst: true, onCard: 'more' } as const

export const NUMBER_COLUMN = { align: 'end', onCard: 'brief' } as const

/**
 * Creates the column with the buttons of each row. While a scratch copy (the site as of an earlier
 * time) is open, the column is empty, because a copy can't be changed.
 */
export const actionsColumn = <Row>(t: TFunction, width: number, cell: Cell<Row>): Column<Row> =>
  column('actions', t('shared.actions'), width, currentScratchCopy() === null ? cell : () => null, {
    isPinned: true,
    align: 'end',
    onCard: 'foot',
  })

export type Sort = { readonly column: string; readonly isDescending: boolean }

/**
 * Converts a sort order to query parameters. The server must use the ids of the columns as the
 * names of the columns.
 */
export const sortParams = ({ column, isDescending }: Sort) => ({
  sort: column,
  order: isDescending ? ('desc' as const) : ('asc' as const),
})

export type StoredLayout = {
  /**
   * The ids of the columns in the order that the user has chosen. A column that a release has added
   * since then is not in this list.
   */
  readonly order: readonly string[]
  readonly shown: Readonly<Record<string, boolean>>
  readonly widths: Readonly<Record<string, number>>
  readonly isAgo?: boolean
}

export const NO_LAYOUT: StoredLayout = { order: [], shown: {}, widths: {} }
export const WIDTH_MIN = 56
export const WIDTH_MAX = 1200

export function readLayout(stored: unknown): StoredLayout | null {
  if (typeof stored !== 'object' || stored === null) return null
  const { order, shown, widths, isAgo } = stored as Partial<Record<keyof StoredLayout, unknown>>
  return {
    order: Array.isArray(order) ? order.filter((id) => typeof id === 'string') : [],
    shown: entriesOf(shown, (value) => typeof value === 'boolean'),
    widths: entriesOf(widths, (value) => typeof value === 'number' && Number.isFinite(value)),
    ...(isAgo === true ? { isAgo } : {}),
  }
}

/**
 * Returns the columns in the `order` that the user has chosen. A column that is not in `order`
 * keeps its position.
 */
export function inOrder<Row>(
  columns: readonly Column<Row>[],
  order: readonly string[],
): Column<Row>[] {
  const ordered = columns.filter((column) => order.includes(column.id))
  const sorted = ordered.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id))
  return columns.map((column) => (order.includes(column.id) ? (sorted.shift() ?? column) : column))
}

export const withTimeFormat = <Row>(column: Column<Row>, { isAgo }: StoredLayout): Column<Row> =>
  isAgo === true && column.agoCell !== undefined ? { ...column, cell: column.agoCell } : column

export const isShown = <Row>(column: Column<Row>, layout: StoredLayout): boolean =>
  column.isPinned === true || (layout.shown[column.id] ?? column.isHiddenAtFirst !== true)

export function widthOf<Row>(column: Column<Row>, layout: StoredLayout): number {
  return clampWidth(layout.widths[column.id] ?? column.width, column.minWidth)
}

export const clampWidth = (width: number, min = WIDTH_MIN): number =>
  Math.round(Math.min(WIDTH_MAX, Math.max(min, width)))

export function moved(ids: readonly string[], id: string, step: number): string[] {
  const from = ids.indexOf(id)
  const to = Math.min(ids.length - 1, Math.max(0, from + step))
  const next = ids.filter((other) => other !== id)
  if (from >= 0) next.splice(to, 0, id)
  return next
}

function entriesOf<Value>(
  stored: unknown,
  isValue: (value: unknown) => boolean,
): Record<string, Value> {
  if (typeof stored !== 'object' || stored === null) return {}
  return Object.fromEntries(Object.entries(stored).filter(([, value]) => isValue(value)))
}
