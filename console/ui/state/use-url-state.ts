import { useCallback, useEffect, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation, useNavigate } from 'react-router-dom'
import { showInfo } from '../messages/toast.ts'
import { readUrlState, type UrlSchema, type UrlValues, writeUrlState } from './url-state.ts'

/**
 * The query of the address after pending navigations. A change that is made before the last one has
 * taken effect must start from the requested query, not from the rendered one.
 */
type Coming = { readonly from: string; readonly params: URLSearchParams; readonly isStep: boolean }

type AddressChange = { readonly params: URLSearchParams; readonly isReplacing: boolean }

type StepKind =
  /** A separate step, which Back undoes. */
  | 'step'
  /** Replaces the current step. */
  | 'replace'
  /** Typing: the first letter makes the step, and all until the next commit belong to it. */
  | 'typing'

let coming: Coming | null = null
let typed: string | null = null

/** The query that the next change starts from, and whether it makes a step. */
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
  // A request that repeats before it is rendered (a suggestion, then Enter) is one step.
  const isSame = String(params) === before
  const isGoingOn = kind === 'typing' && typed === name
  typed = kind === 'typing' ? name : null
  // A replacement of a step that has not taken effect must make that step itself.
  const isStep = last?.isStep === true || (kind !== 'replace' && !isGoingOn && !isSame)
  coming = { from, params, isStep }
  return { params, isReplacing: !isStep }
}

/** Ends the typing: the box was left, Enter was pressed, or a value was chosen. */
function endTyping(): void {
  typed = null
}

window.addEventListener('change', endTyping, true)
window.addEventListener('focusout', endTyping, true)
window.addEventListener('popstate', () => {
  typed = null
  // The user went back to the entry that a change started from, so the change has ended.
  coming = null
})

/** Unique for every entry of the history, also for a replaced one. */
function entryId(): string {
  const { key } = (window.history.state ?? {}) as { key?: string }
  return `${key ?? ''} ${window.location.pathname}${window.location.search}`
}

export type SetUrlState<Schema extends UrlSchema> = (
  patch: Partial<UrlValues<Schema>>,
  options?: {
    /** Replaces the current step. By default a change adds a step, which Back undoes. */
    replace?: boolean
    /** Makes one step of everything that is typed until Enter, or until the box is left. */
    isTyping?: boolean
  },
) => void

/**
 * Keeps filters, tab, range, sort and the like in the address alone. `schema` must be a constant of
 * the module. Invalid values are removed from the address, with a toast. Changes in quick
 * succession all take effect, even from different components.
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
