import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { optionsKey, optionsQuery } from '#console/api/options/list-options.ts'
import { putOption } from '#console/api/options/put-option.ts'
import { statusQuery } from '#console/api/status/status.ts'
import { showError, showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'
import { FALLBACK_KEYS, type FallbackDraft, fallbackFault } from './fallback-pricing.ts'
import { changedOptions, type OptionChange } from './option-changes.ts'
import { settingFault } from './setting-faults.ts'

export type SettingsForm = {
  isLoading: boolean
  error: Error | null
  reload: () => void
  /** Options the server has; others are not shown. */
  has: (key: string) => boolean
  value: (key: string) => string
  isChanged: (key: string) => boolean
  set: (values: ReadonlyMap<string, string>) => void
  changes: readonly OptionChange[]
  /** Whether faults of untouched fields are to be shown: after a save that found some. */
  isChecked: boolean
  discard: () => void
  save: () => Promise<void>
  isSaving: boolean
}

const EMPTY: ReadonlyMap<string, string> = new Map()

/** The loaded options as a baseline, the drafts beside them, and a save of what differs. */
export function useSettingsForm(onFault: () => void): SettingsForm {
  const { t } = useTranslation()
  const query = useQuery(optionsQuery)
  const baseline = query.data ?? EMPTY
  const [drafts, setDrafts] = useState<ReadonlyMap<string, string>>(EMPTY)
  const [isChecked, setChecked] = useState(false)
  const changes = useMemo(() => changedOptions(baseline, drafts), [baseline, drafts])
  const value = (key: string) => drafts.get(key) ?? baseline.get(key) ?? ''
  const send = useSend((saved) => setDrafts((current) => without(current, saved)))
  const { isBusy, submit } = useSubmit(async () => {
    if (changes.length === 0) return showError(t('settings.nothingChanged'))
    if (hasFault(changes, value)) {
      setChecked(true)
      onFault()
      return showError(t('settings.checkInput'))
    }
    await send(changes)
    setChecked(false)
  })
  return {
    isLoading: query.isPending,
    error: query.data === undefined ? query.error : null,
    reload: () => void query.refetch(),
    has: (key) => baseline.has(key),
    value,
    isChanged: (key) => changes.some((change) => change.key === key),
    set: (values) => setDrafts((current) => new Map([...current, ...values])),
    changes,
    isChecked,
    discard: () => {
      setDrafts(EMPTY)
      setChecked(false)
    },
    save: submit,
    isSaving: isBusy,
  }
}

/** One call per option, side by side; what was refused stays a draft, with the server's words. */
function useSend(onSaved: (keys: ReadonlySet<string>) => void) {
  const { t } = useTranslation()
  const client = useQueryClient()
  return async (changes: readonly OptionChange[]) => {
    const results = await Promise.allSettled(changes.map(({ key, after }) => putOption(key, after)))
    const saved = changes.filter((_, index) => results[index]?.status === 'fulfilled')
    const failure = results.find((result) => result.status === 'rejected')
    await client.invalidateQueries({ queryKey: optionsKey })
    void client.invalidateQueries({ queryKey: statusQuery.queryKey })
    onSaved(new Set(saved.map(({ key }) => key)))
    if (failure === undefined) return showSuccess(t('settings.saved'))
    showError(t(saved.length > 0 ? 'settings.partlyFailed' : 'settings.failed'))
    showError(failure.reason)
  }
}

function hasFault(changes: readonly OptionChange[], value: (key: string) => string): boolean {
  if (changes.some(({ key, after }) => settingFault(key, after) !== null)) return true
  const isFallback = changes.some(({ key }) => FALLBACK_KEYS.some((other) => other === key))
  return isFallback && fallbackFault(fallbackDraft(value)) !== null
}

/** The four fallback options as their form has them. */
export const fallbackDraft = (value: (key: string) => string): FallbackDraft => ({
  fallback_pricing_enabled: value('fallback_pricing_enabled'),
  fallback_single_price: value('fallback_single_price'),
  fallback_input_ratio: value('fallback_input_ratio'),
  fallback_completion_ratio: value('fallback_completion_ratio'),
})

function without(
  drafts: ReadonlyMap<string, string>,
  keys: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  return new Map([...drafts].filter(([key]) => !keys.has(key)))
}
