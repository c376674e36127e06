import Type, { type Static } from 'typebox'

/** Values are text: booleans `true`/`false`, lists and maps JSON. Secrets read as `***` or ``. */
export const Option = Type.Object({ key: Type.String(), value: Type.String() })
export type Option = Static<typeof Option>
