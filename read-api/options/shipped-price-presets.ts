import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUILT_IN_PRICES_AS_OF, builtInRatios } from '#domain/pricing/built-in-prices.ts'
import { isOpenRouterName } from '#domain/pricing/openrouter-aliases.ts'
import { DEFAULT_OUTPUT_CAPS } from '#domain/pricing/output-caps.ts'
import type { PresetRatios } from '../contract/options.ts'

const FOLDER = join(import.meta.dirname, 'presets')
/** The date of the prices in the folder (see `presets/README.md`). */
const OLDER_AS_OF = '2025-10'

/** The sources of ratios. `legacy` has only completion ratios. */
export type PresetSource = 'flexible' | 'openrouter' | 'legacy'

type ShippedPreset = Pick<PresetRatios, 'as_of' | 'older' | 'prompt' | 'completion' | 'max_output'>
type ReadList = (text: string) => ReadonlyMap<string, string> | null

/**
 * Returns the ratios of a source that are shipped with this release. They are the built-in prices,
 * and older prices of models that have no built-in price.
 */
export function shippedPreset(
  source: PresetSource,
  { readRatios, readCaps }: { readonly readRatios: ReadList; readonly readCaps: ReadList },
): ShippedPreset {
  const listIn = (name: string, read = readRatios): ReadonlyMap<string, string> =>
    read(readFileSync(join(FOLDER, source, `${name}.json`), 'utf8')) ?? new Map()
  const completion = listIn('completion')
  if (source === 'legacy') {
    const lists = { prompt: {}, completion: Object.fromEntries(completion), max_output: {} }
    return { as_of: OLDER_AS_OF, older: null, ...lists }
  }
  const names = namesOf(source)
  const older = [...completion.keys()].filter((name) => !names.has(name))
  return {
    as_of: BUILT_IN_PRICES_AS_OF,
    older: { as_of: OLDER_AS_OF, models: older },
    prompt: merged(listIn('prompt'), names, builtInRatios('ModelRatio')),
    completion: merged(completion, names, builtInRatios('CompletionRatio')),
    max_output: merged(listIn('max_output', readCaps), names, DEFAULT_OUTPUT_CAPS),
  }
}

/** Returns the names of models with built-in prices that calls of the source have. */
const namesOf = (source: PresetSource): ReadonlySet<string> =>
  new Set(
    [...builtInRatios('ModelRatio').keys()].filter(
      (model) => isOpenRouterName(model) === (source === 'openrouter'),
    ),
  )

/** Replaces values of the list by built-in values, and adds those that it lacks. */
function merged(
  list: ReadonlyMap<string, string>,
  names: ReadonlySet<string>,
  builtIn: ReadonlyMap<string, string | number>,
): Record<string, string> {
  const values = new Map(list)
  for (const name of names) {
    const value = builtIn.get(name)
    if (value !== undefined) values.set(name, `${value}`)
  }
  return Object.fromEntries([...values].sort(([one], [other]) => (one < other ? -1 : 1)))
}
