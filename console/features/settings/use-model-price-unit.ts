import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { priceUnitsQuery } from '#console/api/options.ts'
import { type ShownUnit, shownUnit } from '#console/ui/quota/price-unit.ts'
import { isPricePerSecond } from '#read-api/contract/price-unit-by-model-name.ts'
import type { SettingsForm } from './use-settings-form.ts'

/** Returns the unit of the fixed price of a model. */
export type UnitOfPrice = (model: string) => ShownUnit

/**
 * Returns a function that finds the unit of a model's fixed price. The channels of the model
 * determine the unit. If the model has no channel, its name determines the unit. While the units of
 * the channels are loading or can't be read, the function returns both units for each model, so
 * that admins do not enter a price for the wrong unit.
 */
export function useUnitOfPrice(form: SettingsForm): UnitOfPrice {
  const option = form.option('ModelPrice')
  const { data } = useQuery(priceUnitsQuery)
  return useMemo<UnitOfPrice>(() => {
    if (data === undefined) return () => 'CallOrSecond'
    const units = new Map(Object.entries(data))
    return (model) => {
      const ofName = option !== undefined && isPricePerSecond(option, model) ? 'second' : 'call'
      return shownUnit(units.get(model) ?? [ofName])
    }
  }, [option, data])
}
