import type { ReactNode, Ref } from 'react'
import type { Sort } from './column.ts'
import type { Density } from './density.ts'
import type { ColumnLayout } from './use-column-layout.ts'

export type Selection = {
  readonly keys: ReadonlySet<string>
  readonly onChange: (keys: ReadonlySet<string>) => void
}

/** The position of a row in a tree of rows; the rows below it are rows of the list too. */
export type Branch = {
  /** Starts at 1. */
  readonly level: number
  /** Absent for rows without children. */
  readonly isOpen?: boolean
  readonly onToggle?: () => void
}

export type DataGridHandle = {
  scrollToTop: () => void
  focus: () => void
}

export type DataGridProps<Row> = {
  /** The accessible name of the list. */
  label: string
  rows: readonly Row[]
  /** Unique and stable: keeps the reading position when rows are prepended. */
  rowKey: (row: Row) => string
  layout: ColumnLayout<Row>
  /**
   * The number of rows in all pages, when `rows` is one page; `firstIndex` is that of the first
   * row, from 0.
   */
  total?: number
  firstIndex?: number
  /** Nothing has loaded yet: skeleton rows appear after a moment. */
  isLoading?: boolean
  /** The old rows stay, dimmed, while new ones load. */
  isRefetching?: boolean
  /** Shown when there are no rows. */
  empty?: ReactNode
  /** Details below a row: rows expand by press, Enter and Space. */
  expand?: (row: Row) => ReactNode
  /**
   * Opens the details of the row with this key. Each new key opens its row once; a row that the
   * reader closes stays closed.
   */
  openKey?: string | undefined
  /** Called for a press or Enter on a row; `expand` then opens by Space alone. */
  onOpen?: (row: Row) => void
  /** The text of the open action on cards; "Edit" by default. */
  openText?: string
  /** Makes the list a tree: `ArrowRight`, `ArrowLeft` and Space open and close its branches. */
  branch?: (row: Row) => Branch
  selection?: Selection
  sort?: Sort | null
  onSort?: (sort: Sort) => void
  isMuted?: (row: Row) => boolean
  /** On cards, below the heading: the content of a wide list's tooltips. */
  cardNote?: (row: Row) => ReactNode
  /** Highlights the row once, as just arrived. */
  isFresh?: (row: Row) => boolean
  /** Keeps the first column visible during horizontal scrolling. */
  isFirstSticky?: boolean
  /** The row height until the reader chooses one; comfortable by default. */
  density?: Density
  /** A CSS length; by default the remaining height of the window. */
  maxHeight?: string
  /** Reports whether the newest row is visible, for a "new rows" button. */
  onAtTop?: (isAtTop: boolean) => void
  gridRef?: Ref<DataGridHandle>
}
