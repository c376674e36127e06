import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { priceUnitsQuery } from '#console/api/options.ts'
import { type ShownUnit, shownUnit } from '#console/ui/quota/price-unit.ts'
import { isPricePerSecond } from '#read-api/contract/price-unit.ts'
import type { SettingsForm } from './use-settings-form.ts'

/** Returns the unit of the fixed price of a model. */
export type UnitOfPrice = (model: string) => ShownUnit

/**
 * Returns a function that finds the unit of a model's price. The channels of the model decide it.
 * The unit of a model without a channel follows from its name.
 */
export function useUnitOfPrice(form: SettingsForm): UnitOfPrice {
  const option = form.option('ModelPrice')
  const { data } = useQuery(priceUnitsQuery)
  return useMemo(() => {
    const units = new Map(Object.entries(data ?? {}))
    return (model) => {
      const ofName = option !== undefined && isPricePerSecond(option, model) ? 'second' : 'call'
      return shownUnit(units.get(model) ?? [ofName])
    }
  }, [option, data])
}
