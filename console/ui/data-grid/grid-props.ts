import type { ReactNode, Ref } from 'react'
import type { Sort } from './column.ts'
import type { Density } from './density.ts'
import type { ColumnLayout } from './use-column-layout.ts'

export type Selection = {
  readonly keys: ReadonlySet<string>
  readonly onChange: (keys: ReadonlySet<string>) => void
}

/** The position of a row in a tree. */
export type Branch = {
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
  /** Returns the key of a row. It must be unique in the list and must not change. */
  rowKey: (row: Row) => string
  layout: ColumnLayout<Row>
  /**
   * The number of rows on all pages. `firstIndex` is the index of the first shown row among them.
   */
  total?: number
  firstIndex?: number
  isLoading?: boolean
  /** True while other rows load. The current rows are then dimmed. */
  isRefetching?: boolean
  empty?: ReactNode
  /** Renders the details of a row below it. A click, Enter or Space expands them. */
  expand?: (row: Row) => ReactNode
  /** The key of a row whose details are open at first. The user can close them. */
  openKey?: string | undefined
  /** Called for a click or Enter on a row. If it is set, only Space expands the details. */
  onOpen?: (row: Row) => void
  openText?: string
  /** Makes the list a tree. Its rows are opened and closed with arrow keys and Space. */
  branch?: (row: Row) => Branch
  selection?: Selection
  sort?: Sort | null
  onSort?: (sort: Sort) => void
  isMuted?: (row: Row) => boolean
  /** Renders the text of a row's tooltip on a card, because a touch screen shows no tooltips. */
  cardNote?: (row: Row) => ReactNode
  /** Returns true for a row that has just appeared. Such a row is highlighted for a moment. */
  isFresh?: (row: Row) => boolean
  isFirstSticky?: boolean
  /** The row height until the user selects another one. The default is `comfortable`. */
  density?: Density
  /** The maximum height as a CSS length. By default, the list fills the rest of the window. */
  maxHeight?: string
  /** Called when the newest row scrolls into view or out of view. */
  onAtTop?: (isAtTop: boolean) => void
  gridRef?: Ref<DataGridHandle>
}
