import { storePreference } from '#console/ui/state/use-local-preference.ts'

/** A named set of filters. `search` is the query of the URL, without the page number. */
export type SavedView = { readonly name: string; readonly search: string }

export const VIEWS_KEY = 'log-views'
export const VIEWS_MAX = 30
export const NAME_MAX = 60
const SEARCH_MAX = 2_000

/** Validates stored views. Returns null if the stored value is not a list of views. */
export function readViews(stored: unknown): readonly SavedView[] | null {
  if (!Array.isArray(stored)) return null
  return stored.filter(isView).slice(0, VIEWS_MAX)
}

/** Adds a view, or replaces the view with the same name. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const others = views.filter(({ name }) => name !== view.name)
  return [...others, view].toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, VIEWS_MAX)
}

/** Adds a view to the list in storage, which another tab may have changed. */
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
