import type { ReactNode, Ref } from 'react'
import type { Sort } from './column.ts'
import type { Density } from './density.ts'
import type { ColumnLayout } from './use-column-layout.ts'

export type Selection = {
  readonly keys: ReadonlySet<string>
  readonly onChange: (keys: ReadonlySet<string>) => void
}

/** The position of a row in a tree. The row's children are also rows of the list. */
export type Branch = {
  /** The depth in the tree, from 1 for top-level rows. */
  readonly level: number
  /** True if the row's children are shown. Undefined for a row without children. */
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
  /**
   * Returns a unique and stable key of a row. When rows are added, the list uses the keys to keep
   * its position.
   */
  rowKey: (row: Row) => string
  layout: ColumnLayout<Row>
  /**
   * The number of rows on all pages. `firstIndex` is the zero-based index of the first row among
   * these rows.
   */
  total?: number
  firstIndex?: number
  /** True during the first load. Placeholder rows appear after a short delay. */
  isLoading?: boolean
  /** True while other rows load. The current rows then stay visible, but dimmed. */
  isRefetching?: boolean
  empty?: ReactNode
  /** Renders the details below a row. If it is set, a click, Enter or Space expands the row. */
  expand?: (row: Row) => ReactNode
  /**
   * The key of a row whose details are opened. Each new key opens the details only once, so that
   * the user can close them.
   */
  openKey?: string | undefined
  /** Called when a row is clicked or Enter is pressed. If it is set, only Space expands a row. */
  onOpen?: (row: Row) => void
  /** The label of the button that opens a card. The default is "Edit". */
  openText?: string
  /** Makes the list a tree. Arrow keys and Space open and close the row's children. */
  branch?: (row: Row) => Branch
  selection?: Selection
  sort?: Sort | null
  onSort?: (sort: Sort) => void
  isMuted?: (row: Row) => boolean
  /** Renders a note on a card, because a card has no tooltips. */
  cardNote?: (row: Row) => ReactNode
  /** Returns true for a row that has just arrived. The list highlights such a row once. */
  isFresh?: (row: Row) => boolean
  isFirstSticky?: boolean
  /** The row height that applies until the user chooses one. The default is `comfortable`. */
  density?: Density
  /**
   * The maximum height as a CSS length. By default, the list takes the remaining height of the
   * window.
   */
  maxHeight?: string
  /**
   * Called when the newest row becomes visible or invisible. A page uses it to show a button that
   * scrolls to new rows.
   */
  onAtTop?: (isAtTop: boolean) => void
  gridRef?: Ref<DataGridHandle>
}
