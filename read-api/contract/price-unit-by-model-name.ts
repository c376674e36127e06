import { nameOfVersion } from '#domain/shared/versions-of-models.ts'
import type { PriceUnits } from './price-unit-schema.ts'

export { isKnownModerationModel } from '#domain/shared/moderation-models.ts'

/**
 * Reports whether the name of a model indicates a known video model, or a version of one, whose
 * price is for one second of a video.
 */
export function isPricePerSecond(
  { entry_units: units = {} }: { readonly entry_units?: PriceUnits },
  model: string,
): boolean {
  const name = nameOfVersion(model, Object.keys(units))
  return name !== undefined && units[name] === 'second'
}
