import { type Decimal, decimalOf, isAbove, ONE, times } from './decimal.ts'
import type { ConditionRatios, DecimalText, PriceSnapshot } from './price-snapshot.ts'
import { PRICE_CONDITIONS, type PriceCondition } from './usage.ts'

/**
 * The conditions about speed. A call has at most one of these conditions, because the provider
 * serves a call at one speed.
 */
const SPEEDS: readonly PriceCondition[] = ['fast', 'ultrafast', 'flex']

type Row = { readonly models: RegExp } & ConditionRatios

/**
 * The ratios by which conditions multiply the normal price of a model (see `built-in-prices.md`).
 * The first row that matches the model's name without its date applies.
 */
const ROWS: readonly Row[] = [
  { models: /^gpt-6-astra$/, fast: '2', ultrafast: '6', flex: '0.5' },
  { models: /^gpt-6\.1-sol$/, fast: '2', ultrafast: '6', flex: '0.5' },
  { models: /^gpt-6-(?:sol|luna)$/, fast: '2', flex: '0.5' },
  { models: /^gpt-5\.6(?:-sol|-terra|-luna)?$/, fast: '2' },
  { models: /^gpt-5\.5$/, fast: '2.5' },
  { models: /^gpt-5\.4(?:-mini)?$/, fast: '2' },
  { models: /^gpt-5(?:\.1)?-codex$|^gpt-5(?:\.[12])?$/, fast: '2' },
  { models: /^gpt-5-mini$/, fast: '1.8' },
  { models: /^gpt-4\.1(?:-mini)?$/, fast: '1.75' },
  { models: /^gpt-4\.1-nano$/, fast: '2' },
  { models: /^gpt-4o$/, fast: '1.7' },
  { models: /^(?:o3|o4-mini)$/, flex: '0.5' },
  { models: /^claude-(?:opus-4-8|opus-5|fable-5-2)$/, fast: '2', us_inference: '1.1' },
  { models: /^claude-/, us_inference: '1.1' },
  { models: /seedance-1[-.][5-9]/, audio: '2' },
]
const OTHERS: ReadonlyMap<string, Row> = new Map([
  ['gpt-4o-2024-05-13', { models: /^gpt-4o/, fast: '1.75' }],
])
/**
 * Matches the date at the end of a model's name. OpenAI writes `-2026-02-05`, and Anthropic
 * `-20260205`.
 */
const DATE = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/

/** Returns the ratio of a condition for a model, or undefined if the ratio is not known. */
export function ratioOfCondition(
  condition: PriceCondition,
  model: string,
): DecimalText | undefined {
  const name = model.replace(DATE, '')
  const row = OTHERS.get(model) ?? ROWS.find(({ models }) => models.test(name))
  return row?.[condition]
}

/**
 * A cache of the results of `withConditions`. Calls with the same price share one price object,
 * because other caches use the object as their key.
 */
const pricesWithConditions = new WeakMap<PriceSnapshot, Map<string, PriceSnapshot>>()

/**
 * Returns the price of a model with the ratios of the conditions that a call may have. Conditions
 * without a known ratio are omitted.
 */
export function withConditions(
  price: PriceSnapshot,
  model: string,
  conditions: readonly PriceCondition[] = [],
): PriceSnapshot {
  const names = PRICE_CONDITIONS.filter((name) => conditions.includes(name))
  if (names.length === 0) return price
  const cached = pricesWithConditions.get(price) ?? new Map<string, PriceSnapshot>()
  const before = cached.get(names.join())
  if (before !== undefined) return before
  const ratios: Partial<Record<PriceCondition, DecimalText>> = {}
  for (const name of names) {
    const ratio = ratioOfCondition(name, model)
    if (ratio !== undefined) ratios[name] = ratio
  }
  const after: PriceSnapshot = Object.freeze({ ...price, conditions: ratios })
  pricesWithConditions.set(price, cached.set(names.join(), after))
  return after
}

/**
 * Returns the product of the ratios of a call's conditions. A condition without a ratio counts as
 * 1.
 */
export function ratioOfConditions(
  { conditions: ratios = {} }: PriceSnapshot,
  conditions: readonly PriceCondition[],
): Decimal {
  let product = ONE
  for (const name of conditions) {
    const ratio = ratios[name]
    if (ratio !== undefined) product = times(product, decimalOf(ratio))
  }
  return product
}

/**
 * Returns the most expensive combination of conditions that a call at this price may have. At most
 * one speed is included, and only if it costs more than the normal speed.
 */
export function mostExpensiveConditions({
  conditions = {},
}: PriceSnapshot): readonly PriceCondition[] {
  let speed: PriceCondition | null = null
  let highest = ONE
  for (const name of SPEEDS) {
    const ratio = conditions[name]
    if (ratio === undefined || !isAbove(decimalOf(ratio), highest)) continue
    speed = name
    highest = decimalOf(ratio)
  }
  const others = PRICE_CONDITIONS.filter(
    (name) => conditions[name] !== undefined && !SPEEDS.includes(name),
  )
  return speed === null ? others : [speed, ...others]
}
