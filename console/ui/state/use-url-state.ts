import { useCallback, useEffect, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation, useNavigate } from 'react-router-dom'
import { showInfo } from '../messages/toast.ts'
import { readUrlState, type UrlSchema, type UrlValues, writeUrlState } from './url-state.ts'

/**
 * The requested URL query while a navigation is pending. The next change must start from it,
 * because the rendered URL is still the old one.
 */
type Coming = { readonly from: string; readonly params: URLSearchParams; readonly isStep: boolean }

type AddressChange = { readonly params: URLSearchParams; readonly isReplacing: boolean }

type StepKind =
  /** Adds a history entry. */
  | 'step'
  /** Replaces the current history entry. */
  | 'replace'
  /** The first letter adds a history entry; further letters change that entry until a commit. */
  | 'typing'

let coming: Coming | null = null
let typed: string | null = null

/** Requests a change of the URL query, based on the pending query if there is one. */
function changeAddress(
  change: (params: URLSearchParams) => URLSearchParams,
  kind: StepKind,
  name = '',
): AddressChange {
  const from = entryId()
  const last = coming?.from === from ? coming : null
  const now = last?.params ?? new URLSearchParams(window.location.search)
  const before = String(now)
  const params = change(now)
  // A repeated request before the render (a suggestion, then Enter) adds only one history entry.
  const isSame = String(params) === before
  const isGoingOn = kind === 'typing' && typed === name
  typed = kind === 'typing' ? name : null
  // A pending entry does not exist yet, so its replacement must add a history entry.
  const isStep = last?.isStep === true || (kind !== 'replace' && !isGoingOn && !isSame)
  coming = { from, params, isStep }
  return { params, isReplacing: !isStep }
}

/** Ends a typed change on blur, on Enter, or when a value is chosen. */
function endTyping(): void {
  typed = null
}

window.addEventListener('change', endTyping, true)
window.addEventListener('focusout', endTyping, true)
window.addEventListener('popstate', () => {
  typed = null
  // The user went back to the entry before the change, so the change has ended.
  coming = null
})

/** Returns an id that is unique for every history entry, including a replaced entry. */
function entryId(): string {
  const { key } = (window.history.state ?? {}) as { key?: string }
  return `${key ?? ''} ${window.location.pathname}${window.location.search}`
}

export type SetUrlState<Schema extends UrlSchema> = (
  patch: Partial<UrlValues<Schema>>,
  options?: {
    /** Replaces the current history entry. By default a change adds an entry. */
    replace?: boolean
    /** Combines all typing until Enter or blur into one history entry. */
    isTyping?: boolean
  },
) => void

/**
 * Stores filters, tab, range and sort order in the URL only. `schema` must be a module constant.
 * Invalid values are removed from the URL with a toast. Quick successive changes all apply, even
 * from different components.
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
    (edit: (params: URLSearchParams) => URLSearchParams, kind: StepKind, name?: string) => {
      const { params, isReplacing } = changeAddress(edit, kind, name)
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
