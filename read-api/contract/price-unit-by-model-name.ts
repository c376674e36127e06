import { nameOfVersion } from '#domain/shared/versions-of-models.ts'
import type { PriceUnits } from './price-unit-schema.ts'

export { isKnownModerationModel } from '#domain/shared/moderation-models.ts'

/**
 * Reports whether a model is, by its name, a video model whose price is for one second of a video.
 */
export function isPricePerSecond(
  { entry_units: units = {} }: { readonly entry_units?: PriceUnits },
  model: string,
): boolean {
  const name = nameOfVersion(model, Object.keys(units))
  return name !== undefined && units[name] === 'second'
}
