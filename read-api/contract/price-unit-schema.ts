import Type, { type Static } from 'typebox'

/** The unit of a price in the option `ModelPrice`: one call, or one second of a video. */
const PriceUnit = Type.Union([Type.Literal('call'), Type.Literal('second')])
export type PriceUnit = Static<typeof PriceUnit>

/** The units of prices, by the name of the model. */
export const PriceUnits = Type.Record(Type.String(), PriceUnit)
export type PriceUnits = Static<typeof PriceUnits>

/**
 * Lists of price units, by the name of a model or a group. A list has both units if some channels
 * bill one unit and some the other unit.
 */
export const PriceUnitLists = Type.Record(Type.String(), Type.Array(PriceUnit))
