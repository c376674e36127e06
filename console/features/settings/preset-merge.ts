import { isSameNumber } from '#console/ui/exact-decimal.ts'
import type { JsonMap } from './json-map.ts'
import { type PriceKey, type PriceMaps, textsOfMaps } from './price-table.ts'

export type PresetLists = {
  readonly prompt: Readonly<Record<string, string>>
  readonly completion: Readonly<Record<string, string>>
}

export type PresetRow = {
  name: string
  /** Model and completion ratio, now and by the preset; empty for none. */
  now: readonly [ratio: string, completion: string]
  preset: readonly [ratio: string, completion: string]
  state: 'new' | 'changed' | 'same'
}

/** What merging would do to each model of the lists, in the order in which it matters. */
export function presetRows(maps: PriceMaps, lists: PresetLists): PresetRow[] {
  const [prompt, completion] = [entries(lists.prompt), entries(lists.completion)]
  const names = [...new Set([...prompt.keys(), ...completion.keys()])].sort()
  const rows = names.map((name): PresetRow => {
    const now = [maps.ModelRatio.get(name) ?? '', maps.CompletionRatio.get(name) ?? ''] as const
    const preset = [prompt.get(name) ?? '', completion.get(name) ?? ''] as const
    const isSame = preset.every((ratio, n) => ratio === '' || isSameNumber(now[n] ?? '', ratio))
    const isNew = now[0] === '' && now[1] === ''
    return { name, now, preset, state: isSame ? 'same' : isNew ? 'new' : 'changed' }
  })
  const order = { changed: 0, new: 1, same: 2 }
  return rows.sort((one, other) => order[one.state] - order[other.state])
}

/** The texts with the preset's ratios in them; a fixed price excludes ratios and so gives way. */
export function withPresets(maps: PriceMaps, lists: PresetLists): Map<PriceKey, string> {
  const [prompt, completion] = [entries(lists.prompt), entries(lists.completion)]
  return textsOfMaps(maps, {
    ...maps,
    ModelPrice: without(maps.ModelPrice, prompt),
    ModelRatio: new Map([...maps.ModelRatio, ...newer(maps.ModelRatio, prompt)]),
    CompletionRatio: new Map([...maps.CompletionRatio, ...newer(maps.CompletionRatio, completion)]),
  })
}

/**
 * The texts without the models of the lists. What is no more priced by a ratio has no use for a
 * completion ratio of its own either; a list without input ratios takes none of them away.
 */
export function withoutPresets(maps: PriceMaps, lists: PresetLists): Map<PriceKey, string> {
  const [prompt, completion] = [entries(lists.prompt), entries(lists.completion)]
  return textsOfMaps(maps, {
    ...maps,
    ModelRatio: without(maps.ModelRatio, prompt),
    CompletionRatio: without(without(maps.CompletionRatio, prompt), completion),
  })
}

const entries = (list: Readonly<Record<string, string>>): JsonMap => new Map(Object.entries(list))

const without = (map: JsonMap, names: JsonMap): JsonMap =>
  new Map([...map].filter(([name]) => !names.has(name)))

/** A number that is the same already keeps the digits it was typed with. */
const newer = (map: JsonMap, preset: JsonMap): JsonMap =>
  new Map([...preset].filter(([name, ratio]) => !isSameNumber(map.get(name) ?? '', ratio)))
