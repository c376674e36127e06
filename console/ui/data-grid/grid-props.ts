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
  /** Undefined for a row without children. */
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
  /** Must return a unique and stable key, by which the list keeps its place when rows are added. */
  rowKey: (row: Row) => string
  layout: ColumnLayout<Row>
  /** The number of rows on all pages. `firstIndex` is the zero-based index of `rows[0]` in them. */
  total?: number
  firstIndex?: number
  isLoading?: boolean
  /** While other rows load, the current rows stay visible, but dimmed. */
  isRefetching?: boolean
  empty?: ReactNode
  /** Renders the details below a row, which a click, Enter or Space then expands. */
  expand?: (row: Row) => ReactNode
  /** Each new key opens the row's details only once, so that the user can close them. */
  openKey?: string | undefined
  /** Called on a click or Enter. If it is set, only Space expands a row. */
  onOpen?: (row: Row) => void
  openText?: string
  /** Makes the list a tree. Arrow keys and Space open and close the row's children. */
  branch?: (row: Row) => Branch
  selection?: Selection
  sort?: Sort | null
  onSort?: (sort: Sort) => void
  isMuted?: (row: Row) => boolean
  /** Renders a note on a card, because a card has no tooltips. */
  cardNote?: (row: Row) => ReactNode
  /** Returns true for a row that has just arrived, which the list highlights once. */
  isFresh?: (row: Row) => boolean
  isFirstSticky?: boolean
  /** Applies until the user chooses a row height. The default is `comfortable`. */
  density?: Density
  /** A CSS length. By default, the list takes the remaining height of the window. */
  maxHeight?: string
  /** Called when the newest row becomes visible or invisible. */
  onAtTop?: (isAtTop: boolean) => void
  gridRef?: Ref<DataGridHandle>
}
