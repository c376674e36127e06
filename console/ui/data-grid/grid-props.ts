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
  /** Must return a unique and stable key. */
  rowKey: (row: Row) => string
  layout: ColumnLayout<Row>
  /** The number of rows on all pages. `firstIndex` is the index of `rows[0]` among all rows. */
  total?: number
  firstIndex?: number
  isLoading?: boolean
  /** Dims the current rows while other rows load. */
  isRefetching?: boolean
  empty?: ReactNode
  /** Renders the details below a row. A click, Enter or Space on the row expands them. */
  expand?: (row: Row) => ReactNode
  /** Opens the details of the row with this key. The user can then close them. */
  openKey?: string | undefined
  /** Handles a click or Enter on a row. Only Space then expands the row. */
  onOpen?: (row: Row) => void
  openText?: string
  /** Makes the list a tree whose rows open with arrow keys and Space. */
  branch?: (row: Row) => Branch
  selection?: Selection
  sort?: Sort | null
  onSort?: (sort: Sort) => void
  isMuted?: (row: Row) => boolean
  /** Renders a note on a card, because cards have no tooltips. */
  cardNote?: (row: Row) => ReactNode
  /** Returns true for a new row. New rows are highlighted once. */
  isFresh?: (row: Row) => boolean
  isFirstSticky?: boolean
  /** Applies until the user chooses a row height. The default is `comfortable`. */
  density?: Density
  /** A CSS length. The default is the remaining height of the window. */
  maxHeight?: string
  /** Called when the newest row becomes visible or invisible. */
  onAtTop?: (isAtTop: boolean) => void
  gridRef?: Ref<DataGridHandle>
}
