import { useEffect, useEffectEvent, useMemo } from 'react'
import { readJsonMap } from './json-map.ts'
import type { SettingsForm } from './use-settings-form.ts'

/**
 * Returns the output limit of a model for which the price table has no output limit. `isBuiltIn` is
 * false for the default limit of all models. `tokens` is null if the default limit is invalid.
 */
export type OutputLimitFallback = (model: string) => {
  readonly tokens: number | null
  readonly isBuiltIn: boolean
}

/**
 * Returns a function that finds the output limit of a model for which the price table has none. The
 * limit is the model's built-in limit. If there is no built-in limit, it is the default limit that
 * is entered in the form.
 */
export function useOutputLimitFallback(form: SettingsForm): OutputLimitFallback {
  const builtInText = form.option('MaxOutputTokens')?.default ?? '{}'
  const defaultText = form.value('DefaultMaxOutputTokens').trim()
  return useMemo(() => {
    const builtIn = readJsonMap(builtInText) ?? new Map<string, string>()
    const fallback = /^\d{1,9}$/.test(defaultText) ? Number(defaultText) : null
    return (model) => {
      const builtInLimit = builtIn.get(model)
      return builtInLimit === undefined
        ? { tokens: fallback, isBuiltIn: false }
        : { tokens: Number(builtInLimit), isBuiltIn: true }
    }
  }, [builtInText, defaultText])
}

/**
 * Stops refreshing the options while `isOpen` is true, so that values do not change while they are
 * edited. Saving still detects what other users have changed in the meantime.
 */
export function usePausedRefresh(form: SettingsForm, isOpen: boolean): void {
  const hold = useEffectEvent(form.pauseRefresh)
  useEffect(() => {
    if (!isOpen) return
    hold(true)
    return () => hold(false)
  }, [isOpen])
}
