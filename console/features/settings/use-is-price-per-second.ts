import { useMemo } from 'react'
import { isPricePerSecond } from '#read-api/contract/price-unit.ts'
import type { SettingsForm } from './use-settings-form.ts'

/** Reports whether the price of a model is for one second of a video instead of for a call. */
export type IsPricePerSecond = (model: string) => boolean

export function useIsPricePerSecond(form: SettingsForm): IsPricePerSecond {
  const option = form.option('ModelPrice')
  return useMemo(() => (model) => option !== undefined && isPricePerSecond(option, model), [option])
}
