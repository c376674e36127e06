import Type, { type Static } from 'typebox'

const PriceUnit = Type.Union([Type.Literal('call'), Type.Literal('second')])

/** Units of prices, by name. */
export const PriceUnits = Type.Record(Type.String(), PriceUnit)
export type PriceUnits = Static<typeof PriceUnits>

/** The units of prices, by name, where the channels of one name may differ. */
export const PriceUnitLists = Type.Record(Type.String(), Type.Array(PriceUnit))
