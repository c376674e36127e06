import { storePreference } from '#console/ui/state/use-local-preference.ts'

/**
 * Filters and columns that the user has saved under a name. `search` is the query string of the
 * log's URL with these filters and columns, without the page number.
 */
export type SavedView = { readonly name: string; readonly search: string }

export const VIEWS_KEY = 'log-views'
export const VIEWS_MAX = 30
export const NAME_MAX = 60
const SEARCH_MAX = 2_000

export function readViews(stored: unknown): readonly SavedView[] | null {
  if (!Array.isArray(stored)) return null
  return stored.filter(isView).slice(0, VIEWS_MAX)
}

export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const others = views.filter(({ name }) => name !== view.name)
  return [...others, view].toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, VIEWS_MAX)
}

/**
 * Adds a view to the stored list. The list is read from storage first, because another tab may have
 * changed it.
 */
export function storeView(view: SavedView): void {
  const stored: unknown = JSON.parse(localStorage.getItem(VIEWS_KEY) ?? '[]')
  storePreference(VIEWS_KEY, withView(readViews(stored) ?? [], view))
}

export function searchOf(href: string): string {
  const params = new URL(href).searchParams
  params.delete('p')
  params.sort()
  return params.toString()
}

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null) return false
  const { name, search } = value as Partial<Record<keyof SavedView, unknown>>
  const isName = typeof name === 'string' && name.length > 0 && name.length <= NAME_MAX
  return isName && typeof search === 'string' && search.length <= SEARCH_MAX
}
