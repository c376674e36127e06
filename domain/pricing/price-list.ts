import { type CodedError, codedError } from '../shared/coded-error.ts'
import { decimalText, parseDecimal } from './decimal.ts'
import { DEFAULT_GROUP_RATIOS, DEFAULT_RATIOS } from './default-ratios.ts'
import type { DecimalText, PriceSnapshot } from './price.ts'
import { type RatioMap, readNestedRatios, readRatios } from './ratio-map.ts'

/** Ratios by option key: what the admin set, above what is built in. */
type Layer = ReadonlyMap<string, RatioMap>

/** What a model without a price of its own costs, when the site has such a rule. */
type Fallback =
  | { readonly mode: 'call'; readonly price: DecimalText }
  | { readonly mode: 'tokens'; readonly model: DecimalText; readonly completion: DecimalText }

export type PriceList = {
  /** Revision of the options stream it was read at. */
  readonly revision: number
  readonly set: Layer
  readonly groups: RatioMap
  /** User's group → group called with → the ratio in place of that group's own. */
  readonly specialGroups: ReadonlyMap<string, RatioMap>
  readonly fallback: Fallback | null
  /** A site for its own use: everybody accepts models without a price. */
  readonly isUnpricedAccepted: boolean
}

export type PricingError = CodedError<'ModelUnpriced' | 'GroupUnknown'>

/** $75 per million tokens: what is paid where models without a price are accepted. Never free. */
const UNPRICED_RATIO: DecimalText = '37.5'
const ONE: DecimalText = '1'

/** The options that price models, each a map of names. */
export const PRICE_KEYS = [
  'ModelPrice',
  'ModelRatio',
  'CompletionRatio',
  'CacheRatio',
  'CreateCacheRatio',
  'ImageRatio',
  'AudioRatio',
  'AudioCompletionRatio',
] as const

/** `values`: the texts of the options that are set; a missing one leaves its default in force. */
export function readPriceList(values: ReadonlyMap<string, string>, revision: number): PriceList {
  const groups = values.get('GroupRatio')
  return {
    revision,
    set: new Map(PRICE_KEYS.map((key) => [key, readRatios(values.get(key) ?? '{}')])),
    groups: groups === undefined ? DEFAULT_GROUP_RATIOS : readRatios(groups),
    specialGroups: readNestedRatios(values.get('GroupGroupRatio') ?? '{}'),
    fallback: readFallback(values),
    isUnpricedAccepted: values.get('SelfUseModeEnabled') === 'true',
  }
}

/** Who calls, as far as prices depend on it. */
export type Customer = { readonly userGroup: string; readonly acceptsUnpriced: boolean }

/**
 * The price of the model for the group, to be kept with the call. In this order: the admin's price
 * per call, the admin's ratio, the built-in ones, the fallback, and at last, for whoever accepts
 * models without a price and on a site for its own use, ratio 37.5.
 */
export function priceOf(
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
  const ratio = (key: string, otherwise = ONE): DecimalText =>
    list.set.get(key)?.get(model) ?? DEFAULT_RATIOS.get(key)?.get(model) ?? otherwise
  return {
    mode: 'tokens',
    model: own?.model ?? UNPRICED_RATIO,
    completion: ratio('CompletionRatio', own?.completion),
    cacheRead: ratio('CacheRatio'),
    cacheWrite: ratio('CreateCacheRatio'),
    image: ratio('ImageRatio'),
    audio: ratio('AudioRatio'),
    audioCompletion: ratio('AudioCompletionRatio'),
    ...base,
  }
}

/**
 * What users of one group pay for calls with a token of another; undefined where the latter is no
 * group at all.
 */
export function groupRatioOf(
  { groups, specialGroups }: Pick<PriceList, 'groups' | 'specialGroups'>,
  userGroup: string,
  group: string,
): DecimalText | undefined {
  const own = groups.get(group)
  return own === undefined ? undefined : (specialGroups.get(userGroup)?.get(group) ?? own)
}

/** The models whose calls may cost nothing; `any`: it depends on the group, or on a fallback. */
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

/** A single price, or both ratios; half of a pair is no rule. */
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
