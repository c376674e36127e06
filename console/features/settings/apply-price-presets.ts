import { isSameNumber } from '#console/ui/quota/exact-decimal.ts'
import type { PresetRatios } from '#read-api/contract/options.ts'
import type { JsonMap } from './json-map.ts'
import { type PriceKey, type PriceMaps, textsOfMaps } from './price-rows.ts'

type PresetLists = Pick<PresetRatios, 'prompt' | 'completion' | 'max_output'>

/**
 * A model's input ratio, completion ratio and maximum number of output tokens, as decimal texts. An
 * empty text means that the value is missing.
 */
type PresetValues = readonly [ratio: string, completion: string, maxOutput: string]

export type PresetRow = {
  name: string
  current: PresetValues
  preset: PresetValues
  state: 'new' | 'changed' | 'same'
}

/**
 * Returns the rows of the table of presets: changed models first, then new ones,
 * then unchanged ones.
 */
export function presetRows(maps: PriceMaps, lists: PresetLists): PresetRow[] {
  const { prompt, completion, caps } = entriesOf(lists)
  const names = [...new Set([prompt, completion, caps].flatMap((list) => [...list.keys()]))].sort()
  const rows = names.map((name): PresetRow => {
    const current = valuesOf(name, maps.ModelRatio, maps.CompletionRatio, maps.MaxOutputTokens)
    const preset = valuesOf(name, prompt, completion, caps)
    const isSame = preset.every((ratio, n) => ratio === '' || isSameNumber(current[n] ?? '', ratio))
    const isNew = current[0] === '' && current[1] === ''
    return { name, current, preset, state: isSame ? 'same' : isNew ? 'new' : 'changed' }
  })
  const order = { changed: 0, new: 1, same: 2 }
  return rows.sort((one, other) => order[one.state] - order[other.state])
}

/**
 * Returns the new text of each option that changes when the preset values replace the current
 * values. A model that gets a preset ratio loses its fixed price.
 */
export function withPresets(maps: PriceMaps, lists: PresetLists): Map<PriceKey, string> {
  const { prompt, completion, caps } = entriesOf(lists)
  return textsOfMaps(maps, {
    ...maps,
    ModelPrice: without(maps.ModelPrice, prompt),
    ModelRatio: new Map([...maps.ModelRatio, ...changedEntries(maps.ModelRatio, prompt)]),
    CompletionRatio: new Map([
      ...maps.CompletionRatio,
      ...changedEntries(maps.CompletionRatio, completion),
    ]),
    MaxOutputTokens: new Map([
      ...maps.MaxOutputTokens,
      ...changedEntries(maps.MaxOutputTokens, caps),
    ]),
  })
}

/**
 * Returns the new text of each option that changes when the values of all models in the preset
 * lists are removed. A model that loses its ratio also loses its completion ratio and its output
 * limit.
 */
export function withoutPresets(maps: PriceMaps, lists: PresetLists): Map<PriceKey, string> {
  const { prompt, completion, caps } = entriesOf(lists)
  return textsOfMaps(maps, {
    ...maps,
    ModelRatio: without(maps.ModelRatio, prompt),
    CompletionRatio: without(without(maps.CompletionRatio, prompt), completion),
    MaxOutputTokens: without(without(maps.MaxOutputTokens, prompt), caps),
  })
}

const entriesOf = (lists: PresetLists): Record<'prompt' | 'completion' | 'caps', JsonMap> => ({
  prompt: new Map(Object.entries(lists.prompt)),
  completion: new Map(Object.entries(lists.completion)),
  caps: new Map(Object.entries(lists.max_output)),
})

const valuesOf = (name: string, ratios: JsonMap, completions: JsonMap, caps: JsonMap) =>
  [ratios.get(name) ?? '', completions.get(name) ?? '', caps.get(name) ?? ''] as const

const without = (map: JsonMap, names: JsonMap): JsonMap =>
  new Map([...map].filter(([name]) => !names.has(name)))

const changedEntries = (map: JsonMap, preset: JsonMap): JsonMap =>
  new Map([...preset].filter(([name, ratio]) => !isSameNumber(map.get(name) ?? '', ratio)))
