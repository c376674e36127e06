import { nameOfVersion } from '#domain/shared/versions-of-models.ts'
import type { OptionSchema } from './options.ts'

/**
 * Reports whether the price of a model is charged for each second of a video, and not for each
 * call.
 */
export function isPricePerSecond(
  { entry_units: units = {} }: Pick<OptionSchema, 'entry_units'>,
  model: string,
): boolean {
  const name = nameOfVersion(model, Object.keys(units))
  return name !== undefined && units[name] === 'second'
}
