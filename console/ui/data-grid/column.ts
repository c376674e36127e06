import type { ReactNode } from 'react'

export type Column<Row> = {
  readonly id: string
  /** The header, also used in the column chooser and on cards. */
  readonly title: string
  /** A shorter header, whose tooltip has the title. */
  readonly heading?: string
  readonly cell: (row: Row) => ReactNode
  /** Shows the elapsed time instead of the date, when the reader has chosen that. */
  readonly agoCell?: (row: Row) => ReactNode
  /**
   * Pixels, until resized; an amount of money (`.tg-amount`) always has the width that it needs.
   */
  readonly width: number
  readonly minWidth?: number
  /** Takes the remaining width. */
  readonly isGrowing?: boolean
  /** `end` for numbers: right-aligned, with tabular digits. */
  readonly align?: 'start' | 'end'
  readonly isSortable?: boolean
  /** Always shown and therefore absent from the column chooser. */
  readonly isPinned?: boolean
  readonly isHiddenAtFirst?: boolean
  /**
   * The place on the cards of narrow screens: the heading, its far end, a line (the default), one
   * line shared with similar columns (`bare`: without its name), a line of the expanded card,
   * nothing, or the card's foot for the actions on the row.
   */
  readonly onCard?: 'title' | 'aside' | 'line' | 'brief' | 'bare' | 'more' | 'foot' | 'hidden'
}

export type Sort = { readonly column: string; readonly isDescending: boolean }

export type StoredLayout = {
  /** All ids that existed when it was stored, in order. */
  readonly order: readonly string[]
  readonly shown: Readonly<Record<string, boolean>>
  readonly widths: Readonly<Record<string, number>>
  /** Times are shown as elapsed time. */
  readonly isAgo?: boolean
}

export const NO_LAYOUT: StoredLayout = { order: [], shown: {}, widths: {} }
export const WIDTH_MIN = 56
export const WIDTH_MAX = 1200

/** The stored layout; null when the stored value is something else. */
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

/** The columns in the stored order; columns added since then keep their default place. */
export function inOrder<Row>(
  columns: readonly Column<Row>[],
  order: readonly string[],
): Column<Row>[] {
  const known = columns.filter((column) => order.includes(column.id))
  const sorted = known.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id))
  return columns.map((column) => (order.includes(column.id) ? (sorted.shift() ?? column) : column))
}

/** The column with the cells that `isAgo` requires. */
export const inTime = <Row>(column: Column<Row>, { isAgo }: StoredLayout): Column<Row> =>
  isAgo === true && column.agoCell !== undefined ? { ...column, cell: column.agoCell } : column

export const isShown = <Row>(column: Column<Row>, layout: StoredLayout): boolean =>
  column.isPinned === true || (layout.shown[column.id] ?? column.isHiddenAtFirst !== true)

export function widthOf<Row>(column: Column<Row>, layout: StoredLayout): number {
  return clampWidth(layout.widths[column.id] ?? column.width, column.minWidth)
}

export const clampWidth = (width: number, min = WIDTH_MIN): number =>
  Math.round(Math.min(WIDTH_MAX, Math.max(min, width)))

/** Moves `id` by `step` places among `ids`, as far as possible. */
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
