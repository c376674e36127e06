import Type, { type Static } from 'typebox'

/** What a price of the option `ModelPrice` buys: one call, or one second of a video. */
const PriceUnit = Type.Union([Type.Literal('call'), Type.Literal('second')])
export type PriceUnit = Static<typeof PriceUnit>

/** The units of prices, by the name of the model. */
export const PriceUnits = Type.Record(Type.String(), PriceUnit)
export type PriceUnits = Static<typeof PriceUnits>

/** The units of prices, by name. A name has several units if its channels differ. */
export const PriceUnitLists = Type.Record(Type.String(), Type.Array(PriceUnit))
