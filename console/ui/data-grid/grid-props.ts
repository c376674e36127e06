import type { ReactNode, Ref } from 'react'
import type { Sort } from './column.ts'
import type { Density } from './density.ts'
import type { ColumnLayout } from './use-column-layout.ts'

export type Selection = {
  readonly keys: ReadonlySet<string>
  readonly onChange: (keys: ReadonlySet<string>) => void
}

/** Where a row stands in a tree of rows; those under it are rows of the list themselves. */
export type Branch = {
  /** From 1. */
  readonly level: number
  /** Left out for rows that have none under them. */
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
  /** Unique and stable: anchors the reading place when rows are prepended. */
  rowKey: (row: Row) => string
  layout: ColumnLayout<Row>
  /** Rows in all pages, when `rows` is one page; with `firstIndex` of the first row, from 0. */
  total?: number
  firstIndex?: number
  /** Nothing has arrived yet: skeleton rows, after a moment's patience. */
  isLoading?: boolean
  /** Old rows stay, dimmed, while new ones are on their way. */
  isRefetching?: boolean
  /** Shown in place of rows when there are none. */
  empty?: ReactNode
  /** Details under a row: makes rows expandable by press, Enter and Space. */
  expand?: (row: Row) => ReactNode
  /** The key of a row whose details open by themselves, once for each key that is given. */
  openKey?: string | undefined
  /** A press or Enter on a row; `expand` is then opened by Space alone. */
  onOpen?: (row: Row) => void
  /** What a press does, where cards say it; to edit, unless told otherwise. */
  openText?: string
  /** Makes the list a tree: `ArrowRight`, `ArrowLeft` and Space open and close its branches. */
  branch?: (row: Row) => Branch
  selection?: Selection
  sort?: Sort | null
  onSort?: (sort: Sort) => void
  isMuted?: (row: Row) => boolean
  /** On cards, under the heading: what a wide list tells on hover. */
  cardNote?: (row: Row) => ReactNode
  /** Highlights the row once, as just arrived. */
  isFresh?: (row: Row) => boolean
  /** Keeps the first column in sight when scrolling sideways. */
  isFirstSticky?: boolean
  /** The height of the rows until the reader chooses one; comfortable by default. */
  density?: Density
  /** CSS length; by default what is left of the window. */
  maxHeight?: string
  /** Whether the newest row is in sight: for a "new rows" pill. */
  onAtTop?: (isAtTop: boolean) => void
  gridRef?: Ref<DataGridHandle>
}
