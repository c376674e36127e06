import { useMemo } from 'react'
import { forgetPreference, useLocalPreference } from '../state/use-local-preference.ts'
import {
  type Column,
  clampWidth,
  inOrder,
  isShown,
  moved,
  NO_LAYOUT,
  readLayout,
  type StoredLayout,
  widthOf,
  withTimeFormat,
} from './column-and-layout.ts'

export type ColumnLayout<Row> = {
  /** All columns in the order that the user has chosen, including hidden ones. */
  readonly all: readonly Column<Row>[]
  readonly visible: readonly Column<Row>[]
  readonly widthOf: (column: Column<Row>) => number
  readonly isShown: (column: Column<Row>) => boolean
  readonly isResized: (column: Column<Row>) => boolean
  /**
   * True if the list shows how long ago a time was, such as "5 minutes ago". Null if no column has
   * times.
   */
  readonly isAgo: boolean | null
  readonly setAgo: (isAgo: boolean) => void
  readonly setShown: (id: string, isShown: boolean) => void
  readonly setWidth: (id: string, width: number) => void
  readonly move: (id: string, step: number) => void
  readonly reset: () => void
}

/**
 * Returns the column layout that the user has chosen, and functions that change it. The layout is
 * stored in this browser under `key`. `columns` must contain only columns that the user may see.
 */
export function useColumnLayout<Row>(
  key: string,
  columns: readonly Column<Row>[],
): ColumnLayout<Row> {
  const [stored, store] = useLocalPreference<StoredLayout>(key, NO_LAYOUT, readLayout)
  return useMemo(() => {
    const all = inOrder(columns, stored.order).map((column) => withTimeFormat(column, stored))
    const set = (patch: Partial<StoredLayout>) => store({ ...stored, ...patch })
    const minOf = (id: string) => columns.find((column) => column.id === id)?.minWidth
    return {
      all,
      visible: all.filter((column) => isShown(column, stored)),
      widthOf: (column) => widthOf(column, stored),
      isShown: (column) => isShown(column, stored),
      isResized: (column) => stored.widths[column.id] !== undefined,
      isAgo: all.some(({ agoCell }) => agoCell !== undefined) ? stored.isAgo === true : null,
      setAgo: (isAgo) => set({ isAgo }),
      setShown: (id, shown) => set({ shown: { ...stored.shown, [id]: shown } }),
      setWidth: (id, width) =>
        set({ widths: { ...stored.widths, [id]: clampWidth(width, minOf(id)) } }),
      move: (id, step) =>
        set({
          order: moved(
            all.map((column) => column.id),
            id,
            step,
          ),
        }),
      reset: () => forgetPreference(key),
    }
  }, [columns, stored, store, key])
}
