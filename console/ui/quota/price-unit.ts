import type { PriceUnit } from '#read-api/contract/price-unit-schema.ts'

/** The unit of a shown price, as in the keys of its texts (`ui.perCall`, `pricing.byCall` …). */
export type ShownUnit = 'Call' | 'Second' | 'CallOrSecond'

/**
 * Returns the unit to show for a model's price. `units` contains the units in which the channels of
 * the model bill this price.
 */
export function shownUnit(units: readonly PriceUnit[]): ShownUnit {
  if (!units.includes('second')) return 'Call'
  return units.includes('call') ? 'CallOrSecond' : 'Second'
}
