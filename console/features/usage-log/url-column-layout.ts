import type { ColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'

/**
 * Applies the columns that the URL names, for example in a link from another user. They take
 * precedence over the stored columns until the user changes the columns, which calls `forget`.
 */
export function urlColumnLayout<Row>(
  layout: ColumnLayout<Row>,
  columns: string,
  forget: () => void,
): ColumnLayout<Row> {
  if (columns === '') return layout
  const visible = columns
    .split(',')
    .flatMap((id) => layout.all.filter((column) => column.id === id))
  if (visible.length === 0) return layout
  return {
    ...layout,
    visible,
    isShown: (column) => visible.includes(column),
    setShown: (id, isShown) => {
      forget()
      layout.setShown(id, isShown)
    },
    move: (id, step) => {
      forget()
      layout.move(id, step)
    },
    reset: () => {
      forget()
      layout.reset()
    },
  }
}

/**
 * Returns a link to the current view. The link includes the page size and the columns, because the
 * other browser does not know them.
 */
export function linkTo(
  href: string,
  view: { pageSize: number; columns: readonly string[] },
): string {
  const address = new URL(href)
  address.searchParams.set('page_size', String(view.pageSize))
  address.searchParams.set('columns', view.columns.join(','))
  return address.href
}
