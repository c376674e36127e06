import { useMemo } from 'react'
import { readJsonMap } from './json-map.ts'
import type { SettingsForm } from './use-settings-form.ts'

/**
 * Returns the output limit of a model that has no limit in the settings. `tokens` is null if the
 * default limit is invalid.
 */
export type CapFallback = (model: string) => {
  readonly tokens: number | null
  readonly isBuiltIn: boolean
}

/**
 * Returns a function for output limits. A model's built-in limit applies before the default limit,
 * which is read from the settings form and may be unsaved.
 */
export function useCapFallback(form: SettingsForm): CapFallback {
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
