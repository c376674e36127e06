import type { ReactNode, Ref } from 'react'
import type { Sort } from './column.ts'
import type { Density } from './density.ts'
import type { ColumnLayout } from './use-column-layout.ts'

export type Selection = {
  readonly keys: ReadonlySet<string>
  readonly onChange: (keys: ReadonlySet<string>) => void
}

/** The position of a row in a tree. The children of a row are also rows of the list. */
export type Branch = {
  /** The depth in the tree; top-level rows have level 1. */
  readonly level: number
  /** Undefined for rows without children. */
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
  /** A unique, stable key; it keeps the reading position when rows are added at the top. */
  rowKey: (row: Row) => string
  layout: ColumnLayout<Row>
  /** The rows on all pages, if `rows` is one page; `firstIndex` is its zero-based start. */
  total?: number
  firstIndex?: number
  /** True during the first load; skeleton rows appear after a short delay. */
  isLoading?: boolean
  /** True while new rows load; the current rows remain visible but dimmed. */
  isRefetching?: boolean
  empty?: ReactNode
  /** Renders the details below a row. Rows then expand on click, Enter and Space. */
  expand?: (row: Row) => ReactNode
  /** Opens the row once for each new key, so that a row closed by the user stays closed. */
  openKey?: string | undefined
  /** Called on a click or Enter on a row. `expand` then opens on Space only. */
  onOpen?: (row: Row) => void
  /** The label of the open button on cards; the default is "Edit". */
  openText?: string
  /** Makes the list a tree; `ArrowRight`, `ArrowLeft` and Space open and close its branches. */
  branch?: (row: Row) => Branch
  selection?: Selection
  sort?: Sort | null
  onSort?: (sort: Sort) => void
  isMuted?: (row: Row) => boolean
  /** On cards, renders a note below the heading in place of the table's tooltips. */
  cardNote?: (row: Row) => ReactNode
  /** Returns true if the row has just arrived; the row is then highlighted once. */
  isFresh?: (row: Row) => boolean
  /** Keeps the first column visible while the list scrolls horizontally. */
  isFirstSticky?: boolean
  /** The row height until the user chooses one; the default is comfortable. */
  density?: Density
  /** A CSS length; the default is the remaining height of the window. */
  maxHeight?: string
  /** Called when the newest row becomes visible or hidden, for a "new rows" button. */
  onAtTop?: (isAtTop: boolean) => void
  gridRef?: Ref<DataGridHandle>
}
