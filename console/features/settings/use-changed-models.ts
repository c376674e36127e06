import { useMemo } from 'react'
import { isSameNumber } from '#console/ui/exact-decimal.ts'
import { readJsonMap } from './json-map.ts'
import { PRICE_KEYS } from './price-table.ts'
import type { SettingsForm } from './use-settings-form.ts'

/** The models whose price is changed but not saved yet. */
export function useChangedModels(form: SettingsForm): ReadonlySet<string> {
  const { changes } = form
  return useMemo(() => {
    const names = new Set<string>()
    for (const { key, before, after } of changes) {
      if (!PRICE_KEYS.some((other) => other === key)) continue
      const [old, fresh] = [readJsonMap(before), readJsonMap(after)]
      for (const [name, value] of fresh ?? []) {
        if (!isSameNumber(old?.get(name) ?? '', value)) names.add(name)
      }
      for (const name of old?.keys() ?? []) if (fresh?.has(name) === false) names.add(name)
    }
    return names
  }, [changes])
}
