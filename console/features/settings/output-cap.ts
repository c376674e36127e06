import { useMemo } from 'react'
import { readJsonMap } from './json-map.ts'
import type { SettingsForm } from './use-settings-form.ts'

/** The output limit of a model without one in the table; null tokens: the default is no number. */
export type CapFallback = (model: string) => {
  readonly tokens: number | null
  readonly isBuiltIn: boolean
}

/** The limit that holds for a model without an entry: a built-in one, else the drafted default. */
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
