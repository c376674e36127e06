import Type, { type Static } from 'typebox'

export const PutOption = Type.Object({
  key: Type.String({ minLength: 1, maxLength: 200 }),
  value: Type.String({ maxLength: 250000 }),
})
export type PutOption = Static<typeof PutOption>
