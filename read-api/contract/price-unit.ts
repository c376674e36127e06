import Type, { type Static } from 'typebox'
import { nameOfVersion } from '#domain/shared/versions-of-models.ts'

/** What a price of the option `ModelPrice` buys: one call, or one second of a video. */
export const PriceUnit = Type.Union([Type.Literal('call'), Type.Literal('second')])
export type PriceUnit = Static<typeof PriceUnit>

/** Units of prices, by name. */
export const PriceUnits = Type.Record(Type.String(), PriceUnit)

/** The units of prices, by name, where the channels of one name may differ. */
export const PriceUnitLists = Type.Record(Type.String(), Type.Array(PriceUnit))
export type PriceUnitLists = Static<typeof PriceUnitLists>

/** Reports whether the name of a model tells that its price is that of one second of a video. */
export function isPricePerSecond(
  { entry_units: units = {} }: { readonly entry_units?: Static<typeof PriceUnits> },
  model: string,
): boolean {
  const name = nameOfVersion(model, Object.keys(units))
  return name !== undefined && units[name] === 'second'
}
