import type { QueryClient } from '@tanstack/react-query'
import { isKnownModerationModel } from '#read-api/contract/price-unit-by-model-name.ts'
import { isConflict, optionsQuery, presetRatiosQuery, putOption } from './options.ts'

/**
 * The price of a model in a price list that the server offers, as decimal texts with all digits.
 */
export type PresetPrice = {
  readonly model: string
  readonly ratio: string | null
  readonly completionRatio: string | null
  readonly maxOutputTokens: string | null
}

type Texts = ReadonlyMap<string, string>

const readCurrentTexts = (client: QueryClient): Promise<Texts> =>
  client.fetchQuery({ ...optionsQuery, staleTime: 0 })

/**
 * Returns the models among the given ones that have no price. The server rejects calls to such
 * models. Known moderation models are left out, because they are free and need no price. Returns an
 * empty list if the site has a fallback price for models without a price.
 */
export async function findUnpricedModels(
  client: QueryClient,
  models: readonly string[],
): Promise<readonly string[]> {
  return createUnpricedFilter(await readCurrentTexts(client))(models)
}

export function createUnpricedFilter(
  options: Texts,
): (models: readonly string[]) => readonly string[] {
  if (options.get('fallback_pricing_enabled') === 'true') return () => []
  const [prices, ratios] = [namesIn(options.get('ModelPrice')), namesIn(options.get('ModelRatio'))]
  return (models) =>
    models.filter(
      (model) => !prices.has(model) && !ratios.has(model) && !isKnownModerationModel(model),
    )
}

export async function presetPrices(
  client: QueryClient,
  models: readonly string[],
): Promise<readonly PresetPrice[]> {
  const lists = await client.fetchQuery(presetRatiosQuery('flexible'))
  return models.map((model) => ({
    model,
    ratio: ownValue(lists.prompt, model),
    completionRatio: ownValue(lists.completion, model),
    maxOutputTokens: ownValue(lists.max_output, model),
  }))
}

export async function savePresetPrices(
  client: QueryClient,
  prices: readonly PresetPrice[],
): Promise<void> {
  const priced = prices.filter(({ ratio }) => ratio !== null)
  // The model ratio is saved last, because calls to a model are possible as soon as it has a ratio.
  await addEntries(client, 'CompletionRatio', entriesOf(priced, 'completionRatio'))
  await addEntries(client, 'MaxOutputTokens', entriesOf(priced, 'maxOutputTokens'))
  await addEntries(client, 'ModelRatio', entriesOf(priced, 'ratio'))
}

const entriesOf = (
  prices: readonly PresetPrice[],
  part: 'ratio' | 'completionRatio' | 'maxOutputTokens',
): (readonly [string, string])[] =>
  prices.flatMap((price) => {
    const value = price[part]
    return value === null ? [] : [[price.model, value] as const]
  })

const ATTEMPTS_MAX = 3

async function addEntries(
  client: QueryClient,
  key: string,
  entries: readonly (readonly [string, string])[],
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const before = (await readCurrentTexts(client)).get(key) ?? '{}'
    const after = addMissingEntries(before, entries)
    if (after === before) return
    try {
      await putOption(key, after, before)
      return
    } catch (error) {
      if (!isConflict(error) || tries === ATTEMPTS_MAX) throw error
    }
  }
}

/**
 * Returns the text of a JSON object with additional entries. Entries whose names exist already are
 * skipped. The existing entries are copied as text, so that their numbers keep all digits.
 */
export function addMissingEntries(
  text: string,
  entries: readonly (readonly [string, string])[],
): string {
  const names = namesIn(text)
  const added = entries.filter(([name]) => !names.has(name))
  if (added.length === 0) return text
  const body = text.trim().replace(/\}$/, '').trimEnd()
  const lines = added.map(([name, value]) => `  ${JSON.stringify(name)}: ${value}`).join(',\n')
  return `${body === '' ? '{' : body}${names.size === 0 ? '' : ','}\n${lines}\n}`
}

function namesIn(text = '{}'): ReadonlySet<string> {
  const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text)
  return new Set(typeof value === 'object' && value !== null ? Object.keys(value) : [])
}

const ownValue = (list: Readonly<Record<string, string>>, model: string): string | null =>
  Object.hasOwn(list, model) ? (list[model] ?? null) : null
