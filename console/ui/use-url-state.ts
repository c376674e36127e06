import { useCallback, useEffect, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation, useNavigate } from 'react-router-dom'
import { changeAddress, type StepKind } from './address-change.ts'
import { showInfo } from './toast.ts'
import { readUrlState, type UrlSchema, type UrlValues, writeUrlState } from './url-state.ts'

type SetUrlState<Schema extends UrlSchema> = (
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
