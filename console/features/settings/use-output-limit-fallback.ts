import { useMemo } from 'react'
import { readJsonMap } from './json-map.ts'
import type { SettingsForm } from './use-settings-form.ts'

/** `tokens` is null if the default limit is invalid. */
export type OutputLimitFallback = (model: string) => {
  readonly tokens: number | null
  readonly isBuiltIn: boolean
}

/**
 * Returns a model's built-in output limit or, without one, the default limit. The default limit may
 * be unsaved.
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
