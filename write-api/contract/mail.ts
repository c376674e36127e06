import Type, { type Static } from 'typebox'

export const TestMail = Type.Object({ to: Type.String({ maxLength: 320 }) })
export type TestMail = Static<typeof TestMail>
