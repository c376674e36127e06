import { useMemo } from 'react'
import { readJsonMap } from './json-map.ts'
import type { SettingsForm } from './use-settings-form.ts'

/**
 * Returns the output limit of a model that has no limit of its own. `tokens` is null if the default
 * limit is invalid.
 */
export type OutputLimitFallback = (model: string) => {
  readonly tokens: number | null
  readonly isBuiltIn: boolean
}

/**
 * Returns a function that finds the limit for a model without an entry: the model's built-in limit
 * or, if there is none, the default limit. An unsaved default limit applies, too.
 */
export function useOutputLimitFallback(form: SettingsForm): OutputLimitFallback {
  const builtInText = form.option('MaxOutputTokens')?.default ?? '{}'
  const defaultText = form.value('DefaultMaxOutputTokens').trim()
  return useMemo(() => {
    const builtIn = readJsonMap(builtInText) ?? new Map<string, string>()
    const fallback = /^\d{1,9}$/.test(defaultText) ? Number(defaultText) : null
    return (model) => {
      const cap = builtIn.get(model)
      return cap === undefined
        ? { tokens: fallback, isBuiltIn: false }
        : { tokens: Number(cap), isBuiltIn: true }
    }
  }, [builtInText, defaultText])
}
