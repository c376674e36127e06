import type { ColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'

/**
 * Returns a column layout that shows the columns named in the URL, for example in a link from
 * another user. `columns` contains their ids. They take precedence over the stored columns until
 * the user changes the columns. Such a change calls `forget`.
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
 * Returns a link to what the user sees now. The page size and the columns are added to the URL
 * `href`, because the browser in which the link is opened does not know them.
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
