import type { Refusal } from '../shared/refusal.ts'

export type OptionsRefusalCode =
  | 'UnknownOption'
  /** details: `key`, `fault` (an `OptionFault`); `name`, `minimum` or `maximum` where it helps. */
  | 'InvalidOption'

export type OptionsRefusal = Refusal<OptionsRefusalCode>
