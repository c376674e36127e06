import { useCallback, useEffect, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation, useNavigate } from 'react-router-dom'
import { showInfo } from './toast.ts'
import { readUrlState, type UrlSchema, type UrlValues, writeUrlState } from './url-state.ts'

/**
 * The query of the address as it will be: navigation takes a moment, so a change that is made
 * before the last one has landed must start from what that one asked for, not from what is drawn.
 */
type Coming = { readonly from: string; readonly params: URLSearchParams; readonly isStep: boolean }

type AddressChange = { readonly params: URLSearchParams; readonly isReplacing: boolean }

type StepKind =
  /** A step of its own, that Back undoes. */
  | 'step'
  /** No step: corrects what is there. */
  | 'replace'
  /** Letter by letter: the first makes the step, and all until the next commit belong to it. */
  | 'typing'

let coming: Coming | null = null
let typed: string | null = null

/** Where the next change starts from, and whether it makes a step; `name` says what is typed in. */
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
  // Asked for again before it was drawn (a suggestion taken, and Enter): one step, not two.
  const isSame = String(params) === before
  const isGoingOn = kind === 'typing' && typed === name
  typed = kind === 'typing' ? name : null
  // What replaces a step that has not landed yet must make that step itself.
  const isStep = last?.isStep === true || (kind !== 'replace' && !isGoingOn && !isSame)
  coming = { from, params, isStep }
  return { params, isReplacing: !isStep }
}

/** What was typed is settled: the box was left, Enter pressed, a value chosen. */
function endTyping(): void {
  typed = null
}

window.addEventListener('change', endTyping, true)
window.addEventListener('focusout', endTyping, true)
window.addEventListener('popstate', () => {
  typed = null
  // Back to the entry that a change once started from: that change is not under way any more.
  coming = null
})

/** Different for every entry of the history, also for one that was replaced. */
function entryId(): string {
  const { key } = (window.history.state ?? {}) as { key?: string }
  return `${key ?? ''} ${window.location.pathname}${window.location.search}`
}

export type SetUrlState<Schema extends UrlSchema> = (
  patch: Partial<UrlValues<Schema>>,
  options?: {
    /** No step of its own: corrects what is there. The default adds a step that Back undoes. */
    replace?: boolean
    /** One step for everything that is typed until Enter, or until the box is left. */
    isTyping?: boolean
  },
) => void

/**
 * Filters, tab, range, sort and the like: kept in the address and nowhere else. `schema` must be
 * a constant of the module. Values that are not valid are dropped from the address, with a toast.
 * Changes made one right after the other all count, whoever makes them.
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
