import type { PriceUnit } from '#read-api/contract/price-unit-schema.ts'

/**
 * The unit of a price on the screen. The keys of translations contain this unit, as in `ui.perCall`
 * and `pricing.byCall`.
 */
export type ShownUnit = 'Call' | 'Second' | 'CallOrSecond'

/**
 * Returns the unit to show for a model's price. `units` contains the units in which the channels of
 * the model bill this price.
 */
export function shownUnit(units: readonly PriceUnit[]): ShownUnit {
  if (!units.includes('second')) return 'Call'
  return units.includes('call') ? 'CallOrSecond' : 'Second'
}
