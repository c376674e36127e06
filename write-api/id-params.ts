import Type, { type Static } from 'typebox'

/** Ids are positive integers; a path is text, so its form is checked here. */
export const IdParams = Type.Object({ id: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }) })

export const idOf = ({ id }: Static<typeof IdParams>): number => Number(id)
