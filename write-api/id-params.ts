import Type, { type Static } from 'typebox'

/** Path parameters are text, so the schema checks that an id is a positive integer. */
export const IdParams = Type.Object({ id: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }) })

export const idOf = ({ id }: Static<typeof IdParams>): number => Number(id)
