import { useCallback, useEffect, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation, useNavigate } from 'react-router-dom'
import { showInfo } from '../messages/toast.ts'
import { readUrlState, type UrlSchema, type UrlValues, writeUrlState } from './url-state.ts'

/**
 * The query of the URL that an unfinished navigation will set. Another change starts from this
 * query, so that neither change is lost.
 */
type PendingNavigation = {
  readonly from: string
  readonly params: URLSearchParams
  readonly addsHistoryEntry: boolean
}

type QueryChange = { readonly params: URLSearchParams; readonly isReplacing: boolean }

type ChangeKind =
  | 'step'
  | 'replace'
  /**
   * A change by typing. The first letter adds an entry to the browser's history. Later letters
   * replace this entry until the user presses Enter or leaves the field.
   */
  | 'typing'

let pending: PendingNavigation | null = null
let typedName: string | null = null

/**
 * Computes the query of the URL after a change. If a navigation has not finished, starts from the
 * query of that navigation.
 */
function changeQuery(
  change: (params: URLSearchParams) => URLSearchParams,
  kind: ChangeKind,
  name = '',
): QueryChange {
  const from = entryId()
  const last = pending?.from === from ? pending : null
  const now = last?.params ?? new URLSearchParams(window.location.search)
  const before = String(now)
  const params = change(now)
  // Selecting a suggestion and then pressing Enter can make the same change twice. Only the first
  // of these changes adds an entry to the history.
  const isSame = String(params) === before
  const isTypingOn = kind === 'typing' && typedName === name
  typedName = kind === 'typing' ? name : null
  // A pending navigation may add an entry to the history. A later change replaces this navigation,
  // and must then also add an entry.
  const addsHistoryEntry =
    last?.addsHistoryEntry === true || (kind !== 'replace' && !isTypingOn && !isSame)
  pending = { from, params, addsHistoryEntry }
  return { params, isReplacing: !addsHistoryEntry }
}

/**
 * Ends the typing in a field, so that the next letter adds a new entry to the browser's history.
 * Typing ends on Enter, when a suggestion is selected, or when the user leaves the field.
 */
function endTyping(): void {
  typedName = null
}

window.addEventListener('change', endTyping, true)
window.addEventListener('focusout', endTyping, true)
window.addEventListener('popstate', () => {
  typedName = null
  pending = null
})

/**
 * Returns an id of the current entry in the browser's history. This id changes if the entry is
 * replaced.
 */
function entryId(): string {
  const { key } = (window.history.state ?? {}) as { key?: string }
  return `${key ?? ''} ${window.location.pathname}${window.location.search}`
}

export type SetUrlState<Schema extends UrlSchema> = (
  patch: Partial<UrlValues<Schema>>,
  options?: {
    /** Replaces the current entry in the browser's history. By default, a change adds an entry. */
    replace?: boolean
    /**
     * All letters that the user types in a field without leaving it share one entry in the
     * browser's history.
     */
    isTyping?: boolean
  },
) => void

/**
 * Keeps values in the query of the URL. `schema` must be a constant of a module, so that it never
 * changes. If several changes follow each other quickly, all of them take effect.
 */
export function useUrlState<Schema extends UrlSchema>(
  schema: Schema,
): [UrlValues<Schema>, SetUrlState<Schema>] {
  const { t } = useTranslation()
  const { search } = useLocation()
  const change = useAddressChange()
  const { values, dropped } = useMemo(
    () => readUrlState(schema, new URLSearchParams(search)),
    [schema, search],
  )
  const names = dropped.join(', ')
  useEffect(() => {
    if (names === '') return
    showInfo(t('ui.droppedParams', { names }))
    change((params) => without(params, names.split(', ')), 'replace')
  }, [names, change, t])
  const set = useCallback<SetUrlState<Schema>>(
    (patch, options) => {
      const kind =
        options?.isTyping === true ? 'typing' : options?.replace === true ? 'replace' : 'step'
      change((params) => writeUrlState(schema, params, patch), kind, Object.keys(patch).join())
    },
    [schema, change],
  )
  return [values, set]
}

function useAddressChange() {
  const navigate = useNavigate()
  return useCallback(
    (edit: (params: URLSearchParams) => URLSearchParams, kind: ChangeKind, name?: string) => {
      const { params, isReplacing } = changeQuery(edit, kind, name)
      void navigate(`?${params}`, { replace: isReplacing, preventScrollReset: true })
    },
    [navigate],
  )
}

function without(params: URLSearchParams, names: readonly string[]): URLSearchParams {
  const next = new URLSearchParams(params)
  for (const name of names) next.delete(name)
  return next
}
