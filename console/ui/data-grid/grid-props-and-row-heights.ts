import type { ReactNode, Ref } from 'react'
import { useLocalPreference } from '../state/use-local-preference.ts'
import type { Sort } from './column-and-layout.ts'
import type { ColumnLayout } from './use-column-layout.ts'

type Selection = {
  readonly keys: ReadonlySet<string>
  readonly onChange: (keys: ReadonlySet<string>) => void
}

/** The position of a row in a tree of rows. */
type Branch = {
  /** The depth, from 1 for top-level rows. */
  readonly level: number
  readonly isOpen?: boolean
  readonly onToggle?: () => void
}

export type DataGridHandle = {
  scrollToTop: () => void
  focus: () => void
}

export type DataGridProps<Row> = {
  label: string
  rows: readonly Row[]
  /** Returns the key of a row. The key must be unique in the list and must not change. */
  rowKey: (row: Row) => string
  layout: ColumnLayout<Row>
  /**
   * The number of rows on all pages. `firstIndex` is the index of this page's first row among them.
   */
  total?: number
  firstIndex?: number
  isLoading?: boolean
  /**
   * True while the rows of another page, filter or order are loading. During this time, the
   * previous rows stay visible but are dimmed.
   */
  isRefetching?: boolean
  empty?: ReactNode
  /**
   * Renders the details below a row. A click on the row, Enter or Space shows or hides these
   * details.
   */
  expand?: (row: Row) => ReactNode
  /** The key of a row whose details are initially expanded. The user can collapse them. */
  openKey?: string | undefined
  /**
   * Called if the user clicks a row or presses Enter. If this function is set, only Space shows or
   * hides the details.
   */
  onOpen?: (row: Row) => void
  openText?: string
  /**
   * Makes the list a tree, and returns the position of a row in this tree. Arrow keys and Space
   * expand and collapse the branches.
   */
  branch?: (row: Row) => Branch
  selection?: Selection
  sort?: Sort | null
  onSort?: (sort: Sort) => void
  isMuted?: (row: Row) => boolean
  /**
   * Renders a note on a card. In a table, the cells must show the same facts in their tooltips.
   * Cards need the note, because touch screens show no tooltips.
   */
  cardNote?: (row: Row) => ReactNode
  /** Reports whether a row has just appeared. Such a row is highlighted for a moment. */
  isFresh?: (row: Row) => boolean
  isFirstSticky?: boolean
  /** The row height until the user chooses another one. The default is `comfortable`. */
  density?: Density
  /** The maximum height, as a CSS length. By default, the list may fill the rest of the window. */
  maxHeight?: string
  /** Called when the first row becomes visible or is no longer visible. */
  onAtTop?: (isAtTop: boolean) => void
  gridRef?: Ref<DataGridHandle>
}

export type Density = 'compact' | 'comfortable'

/** The height (px) of a row without expanded details. */
export const ROW_HEIGHT: Record<Density, number> = { compact: 34, comfortable: 44 }
export const CARD_HEIGHT = 148
export const HEADER_HEIGHT = 36

/**
 * Returns the row height that the user has chosen for all lists, and a function that sets this
 * height. `fallback` applies until the user has chosen a height.
 */
export function useDensity(
  fallback: Density = 'comfortable',
): [Density, (density: Density) => void] {
  return useLocalPreference<Density>('row-density', fallback, (stored) =>
    stored === 'compact' || stored === 'comfortable' ? stored : null,
  )
}
