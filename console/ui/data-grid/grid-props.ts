import type { ReactNode, Ref } from 'react'
import type { Sort } from './column.ts'
import type { Density } from './density.ts'
import type { ColumnLayout } from './use-column-layout.ts'

export type Selection = {
  readonly keys: ReadonlySet<string>
  readonly onChange: (keys: ReadonlySet<string>) => void
}

/** The position of a row in a tree. The row's children are separate rows of the list. */
export type Branch = {
  /** The depth in the tree, from 1 for top-level rows. */
  readonly level: number
  /** True if the children are shown. Undefined for a row without children. */
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
  /** Returns a unique and stable key, by which the list keeps its position when rows are added. */
  rowKey: (row: Row) => string
  layout: ColumnLayout<Row>
  /** The number of rows on all pages. `firstIndex` is the zero-based index of the first row. */
  total?: number
  firstIndex?: number
  /** True during the first load. Placeholder rows appear after a short delay. */
  isLoading?: boolean
  /** True while other rows load. The current rows stay visible, but dimmed. */
  isRefetching?: boolean
  empty?: ReactNode
  /** Renders the details below a row. If set, click, Enter and Space expand a row. */
  expand?: (row: Row) => ReactNode
  /** Each new key opens the row's details only once, so that the user can close them. */
  openKey?: string | undefined
  /** Called on click or Enter. With `onOpen`, `expand` works only by Space. */
  onOpen?: (row: Row) => void
  /** The label of the button that opens a card. The default is "Edit". */
  openText?: string
  /** Makes the list a tree. Arrow keys and Space open and close the branches of the tree. */
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
  /** The row height until the user chooses one. The default is comfortable. */
  density?: Density
  /** The maximum height as a CSS length. The default is the height that remains in the window. */
  maxHeight?: string
  /** Called when the newest row appears or disappears, for a button that scrolls to new rows. */
  onAtTop?: (isAtTop: boolean) => void
  gridRef?: Ref<DataGridHandle>
}
