import type { ReactNode, Ref } from 'react'
import type { Sort } from './column.ts'
import type { Density } from './density.ts'
import type { ColumnLayout } from './use-column-layout.ts'

export type Selection = {
  readonly keys: ReadonlySet<string>
  readonly onChange: (keys: ReadonlySet<string>) => void
}

/** The row's children are separate rows of the list. */
export type Branch = {
  /** From 1 for top-level rows. */
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
  /** Must be unique and stable: the list keeps its position by keys when rows are added. */
  rowKey: (row: Row) => string
  layout: ColumnLayout<Row>
  /** Counts all pages. `firstIndex` is the zero-based index of the first row. */
  total?: number
  firstIndex?: number
  /** Placeholder rows appear after a short delay. */
  isLoading?: boolean
  /** The current rows stay visible, but dimmed. */
  isRefetching?: boolean
  empty?: ReactNode
  /** If set, click, Enter and Space expand a row. */
  expand?: (row: Row) => ReactNode
  /** Each new key opens the row's details only once, so that the user can close them. */
  openKey?: string | undefined
  /** Called on click or Enter. With `onOpen`, `expand` works only by Space. */
  onOpen?: (row: Row) => void
  /** The label of the button that opens a card. The default is "Edit". */
  openText?: string
  /** Makes the list a tree, whose branches arrow keys and Space open and close. */
  branch?: (row: Row) => Branch
  selection?: Selection
  sort?: Sort | null
  onSort?: (sort: Sort) => void
  isMuted?: (row: Row) => boolean
  /** A card has no tooltips. */
  cardNote?: (row: Row) => ReactNode
  /** The list highlights a row that has just arrived once. */
  isFresh?: (row: Row) => boolean
  isFirstSticky?: boolean
  /** The default is comfortable. The user can choose another row height. */
  density?: Density
  /** A CSS length. The default is the height that remains in the window. */
  maxHeight?: string
  /** For a button that scrolls to new rows. */
  onAtTop?: (isAtTop: boolean) => void
  gridRef?: Ref<DataGridHandle>
}
