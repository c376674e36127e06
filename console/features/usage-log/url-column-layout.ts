import type { ColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'

/**
 * Returns a column layout with the columns that the URL names, for example in a link from another
 * user. `columns` contains their ids. They take precedence over the stored columns until the user
 * changes the layout, which calls `forget`.
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
 * Returns a link to the current view of the log. The page size and the columns are added to the URL
 * `href`, because they are otherwise stored only in this browser.
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
