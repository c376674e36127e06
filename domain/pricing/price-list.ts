import { type CodedError, codedError } from '../shared/coded-error.ts'
import { isNamedLikeModeration } from '../shared/moderation-models.ts'
import { DEFAULT_CONTEXT_TIERS } from './built-in-prices.ts'
import { CONTEXT_TIERS_KEY, type ContextTiers, readContextTiers } from './context-tiers.ts'
import { type Decimal, decimalText, parseDecimal } from './decimal.ts'
import { DEFAULT_GROUP_RATIOS, DEFAULT_RATIOS } from './default-ratios.ts'
import type { ContextTier, DecimalText, PriceSnapshot } from './price-snapshot.ts'
import { type RatioMap, readNestedRatios, readRatios } from './read-ratios.ts'
import { TOOL_PRICES_KEY, toolPricesOf } from './tool-prices.ts'
import { TOOL_NAMES, type ToolCounts } from './usage.ts'

/** Ratios by option key. There are two layers: an admin's ratios override the built-in ratios. */
type Layer = ReadonlyMap<string, RatioMap>

/**
 * A price without a group ratio: the price of one model, or the fallback price of all models
 * without a price of their own.
 */
type Fallback =
  | { readonly mode: 'call'; readonly price: DecimalText }
  | { readonly mode: 'tokens'; readonly model: DecimalText; readonly completion: DecimalText }

export type PriceList = {
  /** The revision of the options stream from which the list was read. */
  readonly revision: number
  readonly set: Layer
  readonly tiers: ContextTiers
  readonly groups: RatioMap
  /**
   * The special ratios, by the user's group and the called group. A special ratio replaces the
   * ratio of the called group.
   */
  readonly specialGroups: ReadonlyMap<string, RatioMap>
  readonly fallback: Fallback | null
  /** The ratio that multiplies the charge of a call in a batch, except for the provider's tools. */
  readonly batch: DecimalText
  /** Set on a site in self-use mode, where all users accept models without a price. */
  readonly isUnpricedAccepted: boolean
}

export type PricingError = CodedError<'ModelUnpriced' | 'GroupUnknown'>

/**
 * The ratio of models without a price, for users who accept such models: $75 per million tokens.
 * Calls of these models are therefore never free.
 */
const UNPRICED_RATIO: DecimalText = '37.5'
const ONE: DecimalText = '1'

/** The price options that map the names of models, or of tools, to values. */
export const PRICE_KEYS = [
  'ModelPrice',
  'ModelRatio',
  'CompletionRatio',
  'CacheRatio',
  'CreateCacheRatio',
  'ImageRatio',
  'AudioRatio',
  'AudioCompletionRatio',
  'ImageCompletionRatio',
  TOOL_PRICES_KEY,
] as const

/**
 * The option with the ratio for calls in a batch. Its default is 0.5, because providers charge half
 * of the price for batches.
 */
export const BATCH_RATIO_KEY = 'BatchRatio'
const HALF: Decimal = Object.freeze({ units: 5n, scale: 1 })

/**
 * Reads the price list from the options. `values` contains the options that an admin has set. All
 * other options have their defaults. `revision` is the revision of the options stream at which
 * `values` were read.
 */
export function readPriceList(values: ReadonlyMap<string, string>, revision: number): PriceList {
  const groups = values.get('GroupRatio')
  return {
    revision,
    set: new Map(PRICE_KEYS.map((key) => [key, readRatios(values.get(key) ?? '{}')])),
    tiers: new Map([
      ...DEFAULT_CONTEXT_TIERS,
      ...readContextTiers(values.get(CONTEXT_TIERS_KEY) ?? '{}'),
    ]),
    groups: groups === undefined ? DEFAULT_GROUP_RATIOS : readRatios(groups),
    specialGroups: readNestedRatios(values.get('GroupGroupRatio') ?? '{}'),
    fallback: readFallback(values),
    batch: decimalText(parseDecimal(values.get(BATCH_RATIO_KEY) ?? '') ?? HALF),
    isUnpricedAccepted: values.get('SelfUseModeEnabled') === 'true',
  }
}

export type Customer = { readonly userGroup: string; readonly acceptsUnpriced: boolean }

/**
 * A cache of the prices of each list. Calls with the same price share one price object, because
 * other caches use the object as their key. The size is limited, because callers choose the model
 * names.
 */
const pricesCache = new WeakMap<PriceList, Map<string, PriceSnapshot>>()
const CACHED_PRICES_MAX = 4_096

/**
 * Returns the price of the model for the group. The price that an admin has set takes precedence
 * over the built-in price. The built-in price takes precedence over the fallback price. If the
 * model has none of these prices, the ratio 37.5 applies in self-use mode and to users who accept
 * models without a price. For all other users, the result is the error `ModelUnpriced`. If the
 * group has no ratio, the result is the error `GroupUnknown`.
 */
export function priceOf(
  list: PriceList,
  model: string,
  group: string,
  customer: Customer,
): PriceSnapshot | PricingError {
  const { userGroup, acceptsUnpriced } = customer
  const key = `${acceptsUnpriced}\0${group}\0${userGroup}\0${model}`
  let cached = pricesCache.get(list)
  const before = cached?.get(key)
  if (before !== undefined) return before
  const price = findPrice(list, model, group, customer)
  if ('code' in price) return price
  if (cached === undefined || cached.size >= CACHED_PRICES_MAX) {
    cached = new Map()
    pricesCache.set(list, cached)
  }
  cached.set(key, Object.freeze(price))
  return price
}

const FREE: DecimalText = '0'

/**
 * Returns the price of a moderation. Providers don't charge for moderations, so a moderation is
 * free unless an admin or the built-in list has a price for the model.
 */
export function moderationPriceOf(
  list: PriceList,
  model: string,
  group: string,
  customer: Customer,
): PriceSnapshot | PricingError {
  if (ownPrice(list.set, model) !== null || ownPrice(DEFAULT_RATIOS, model) !== null) {
    return priceOf(list, model, group, customer)
  }
  const { userGroup } = customer
  const ratio = groupRatioOf(list, userGroup, group)
  if (ratio === undefined) return codedError('GroupUnknown')
  const ofGroup = { group: ratio, ...(userGroup === group ? {} : { userGroup }) }
  return { mode: 'call', price: FREE, list: list.revision, ...ofGroup }
}

/**
 * Returns the price of a model for a call whose endpoint is unknown. If the model has a name like a
 * moderation model, the result is the price of a moderation. Use this function only to find out
 * whether any call of the model has a price.
 */
export const priceByName: typeof priceOf = (list, model, group, customer) =>
  isNamedLikeModeration(model)
    ? moderationPriceOf(list, model, group, customer)
    : priceOf(list, model, group, customer)

function findPrice(
  list: PriceList,
  model: string,
  group: string,
  { userGroup, acceptsUnpriced }: Customer,
): PriceSnapshot | PricingError {
  const groupRatio = groupRatioOf(list, userGroup, group)
  if (groupRatio === undefined) return codedError('GroupUnknown')
  const own = ownPrice(list.set, model) ?? ownPrice(DEFAULT_RATIOS, model) ?? list.fallback
  const isRefused = !acceptsUnpriced && !list.isUnpricedAccepted
  if (own === null && isRefused) return codedError('ModelUnpriced')
  const base = {
    list: list.revision,
    group: groupRatio,
    ...(userGroup === group ? {} : { userGroup }),
  }
  if (own?.mode === 'call') return { mode: 'call', price: own.price, ...base }
  const entry = (key: string): DecimalText | undefined =>
    list.set.get(key)?.get(model) ?? DEFAULT_RATIOS.get(key)?.get(model)
  const ratio = (key: string, otherwise = ONE): DecimalText => entry(key) ?? otherwise
  const imageCompletion = entry('ImageCompletionRatio')
  const tiers = list.tiers.get(model) ?? NO_TIERS
  return {
    mode: 'tokens',
    model: own?.model ?? UNPRICED_RATIO,
    completion: ratio('CompletionRatio', own?.completion),
    cacheRead: ratio('CacheRatio'),
    cacheWrite: ratio('CreateCacheRatio'),
    image: ratio('ImageRatio'),
    audio: ratio('AudioRatio'),
    audioCompletion: ratio('AudioCompletionRatio'),
    ...(imageCompletion === undefined ? {} : { imageCompletion }),
    ...(tiers.length === 0 ? {} : { tiers }),
    ...base,
  }
}

const NO_TIERS: readonly ContextTier[] = []

/** A cache of the results of `withoutImages`. As in `pricesCache`, calls share price objects. */
const pricesWithoutImages = new WeakMap<PriceSnapshot, PriceSnapshot>()

/**
 * Returns the price for a call whose answer can't contain images. If the provider reports image
 * tokens anyway, these tokens are charged as text, because the hold covers only the price of text.
 */
export function withoutImages(price: PriceSnapshot): PriceSnapshot {
  if (price.mode === 'call' || price.imageCompletion === undefined) return price
  const cached = pricesWithoutImages.get(price)
  if (cached !== undefined) return cached
  const { imageCompletion: _, ...others } = price
  const after: PriceSnapshot = Object.freeze(others)
  pricesWithoutImages.set(price, after)
  return after
}

/**
 * Returns the price of a call that generates images. A price per token needs no factor and is
 * returned unchanged.
 */
export const withImageFactor = (
  price: PriceSnapshot,
  imageFactor: DecimalText | undefined,
): PriceSnapshot =>
  price.mode === 'tokens' || imageFactor === undefined ? price : { ...price, imageFactor }

/** A cache of the results of `withTools`. As in `pricesCache`, calls share price objects. */
const pricesWithTools = new WeakMap<PriceSnapshot, Map<string, PriceSnapshot>>()

/** Returns the price of a model with the prices of the tools in `uses`. */
export function withTools(
  list: PriceList,
  price: PriceSnapshot,
  model: string,
  uses: ToolCounts | undefined,
): PriceSnapshot {
  if (uses === undefined) return price
  const names = TOOL_NAMES.filter((name) => uses[name] !== undefined)
  if (names.length === 0) return price
  const cached = pricesWithTools.get(price) ?? new Map<string, PriceSnapshot>()
  const before = cached.get(names.join())
  if (before !== undefined) return before
  const tools = toolPricesOf(list.set.get(TOOL_PRICES_KEY) ?? new Map(), model, uses)
  const after: PriceSnapshot = Object.freeze({ ...price, tools })
  pricesWithTools.set(price, cached.set(names.join(), after))
  return after
}

/**
 * A cache of the results of `inBatchPrice`. As in `pricesCache`, lines of batches share price
 * objects.
 */
const pricesInBatch = new WeakMap<PriceSnapshot, Map<DecimalText, PriceSnapshot>>()

/** Returns the price of a call that is a line of a batch. */
export function inBatchPrice({ batch }: PriceList, price: PriceSnapshot): PriceSnapshot {
  const cached = pricesInBatch.get(price) ?? new Map<DecimalText, PriceSnapshot>()
  const after = cached.get(batch) ?? Object.freeze({ ...price, batch })
  pricesInBatch.set(price, cached.set(batch, after))
  return after
}

/**
 * Returns the ratio for users of `userGroup` who call `group`, or undefined for an unknown group.
 */
export function groupRatioOf(
  { groups, specialGroups }: Pick<PriceList, 'groups' | 'specialGroups'>,
  userGroup: string,
  group: string,
): DecimalText | undefined {
  const own = groups.get(group)
  return own === undefined ? undefined : (specialGroups.get(userGroup)?.get(group) ?? own)
}

/**
 * Returns the names of the models whose price is 0. Returns `any` if a group ratio or the fallback
 * price is 0, because calls of any model may then be free. A listed model is not always free,
 * because another entry may override its price of 0.
 */
export function zeroPrices({
  set,
  groups,
  specialGroups,
  fallback,
}: PriceList): readonly string[] | 'any' {
  const ofGroups = [groups, ...specialGroups.values()].flatMap((ratios) => [...ratios.values()])
  const ofFallback = fallback?.mode === 'call' ? fallback.price : fallback?.model
  if (isZero(ofFallback) || ofGroups.some(isZero)) return 'any'
  return [set, DEFAULT_RATIOS].flatMap((layer) =>
    ['ModelPrice', 'ModelRatio'].flatMap((key) =>
      [...(layer.get(key) ?? [])].flatMap(([model, ratio]) => (isZero(ratio) ? [model] : [])),
    ),
  )
}

const isZero = (text: DecimalText | undefined): boolean =>
  text !== undefined && parseDecimal(text)?.units === 0n

function ownPrice(layer: Layer, model: string): Fallback | null {
  const price = layer.get('ModelPrice')?.get(model)
  if (price !== undefined) return { mode: 'call', price }
  const ratio = layer.get('ModelRatio')?.get(model)
  return ratio === undefined ? null : { mode: 'tokens', model: ratio, completion: ONE }
}

/**
 * Returns the fallback price, or null if there is none. If only one of the two fallback ratios is
 * set, this ratio is ignored.
 */
function readFallback(values: ReadonlyMap<string, string>): Fallback | null {
  if (values.get('fallback_pricing_enabled') !== 'true') return null
  const decimal = (key: string): DecimalText | null => {
    const value = parseDecimal(values.get(key) ?? '')
    return value === null ? null : decimalText(value)
  }
  const price = decimal('fallback_single_price')
  if (price !== null) return { mode: 'call', price }
  const model = decimal('fallback_input_ratio')
  const completion = decimal('fallback_completion_ratio')
  return model === null || completion === null ? null : { mode: 'tokens', model, completion }
}
