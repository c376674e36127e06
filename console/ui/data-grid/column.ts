import type { TFunction } from 'i18next'
import type { ReactNode } from 'react'
import { openCopy } from '#console/api/scratch-copy.ts'

export type Column<Row> = {
  readonly id: string
  readonly title: string
  /**
   * The text in the header, if it differs from `title`, for example because it must be short. The
   * header's tooltip then shows `title`.
   */
  readonly heading?: string
  readonly cell: (row: Row) => ReactNode
  /** Renders the cell if the user prefers elapsed times, such as "5 minutes ago". */
  readonly agoCell?: (row: Row) => ReactNode
  /** The initial width (px). Columns of amounts (`.tg-amount`) grow to fit their content. */
  readonly width: number
  readonly minWidth?: number
  readonly isGrowing?: boolean
  /** `end` is for numbers, which are right-aligned with digits of equal width. */
  readonly align?: 'start' | 'end'
  readonly isSortable?: boolean
  readonly isPinned?: boolean
  readonly isHiddenAtFirst?: boolean
  /**
   * The place of the value on a card. `title` and `aside` are in the heading, and `more` is in the
   * expanded part. `line` (the default) has a label. `brief` values share a line. `bare` values
   * share a line and have no labels.
   */
  readonly onCard?: 'title' | 'aside' | 'line' | 'brief' | 'bare' | 'more' | 'foot' | 'hidden'
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
 * The column with the actions of each row. It is empty while a scratch copy (the site as of an
 * earlier time) is open, because a copy can't be changed.
 */
export const actionsColumn = <Row>(t: TFunction, width: number, cell: Cell<Row>): Column<Row> =>
  column('actions', t('shared.actions'), width, openCopy() === null ? cell : () => null, {
    isPinned: true,
    align: 'end',
    onCard: 'foot',
  })

export type Sort = { readonly column: string; readonly isDescending: boolean }

/**
 * Returns the sort parameters of a request, for endpoints whose names of columns are the same as
 * the console's column ids.
 */
export const sortParams = ({ column, isDescending }: Sort) => ({
  sort: column,
  order: isDescending ? ('desc' as const) : ('asc' as const),
})

export type StoredLayout = {
  /**
   * The column ids in the user's order. Columns that were added by a later release are not in the
   * list.
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
 * Sorts columns by the stored `order`. A column that is not in `order` keeps its default position.
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
