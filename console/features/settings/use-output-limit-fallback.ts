import { useMemo } from 'react'
import { readJsonMap } from './json-map.ts'
import type { SettingsForm } from './use-settings-form.ts'

/**
 * Returns the output limit that applies to a model without an output limit in the price table.
 * `isBuiltIn` is false for the default limit of all models. `tokens` is null if the default limit
 * is invalid.
 */
export type OutputLimitFallback = (model: string) => {
  readonly tokens: number | null
  readonly isBuiltIn: boolean
}

/**
 * Returns a function that finds the output limit of a model without an output limit in the price
 * table. This is the built-in limit of the model or, without a built-in limit, the default limit
 * that is entered in the form.
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
