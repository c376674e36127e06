import type { Refusal } from '../shared/refusal.ts'

export type OptionsRefusalCode =
  | 'UnknownOption'
  /** details: `key`, `fault` (an `OptionFault`); `name`, `minimum` or `maximum` where it helps. */
  | 'InvalidOption'
  /** Somebody set it since it was looked at. details: `key`. */
  | 'OptionChanged'
  | 'PriceChangeUnknown'
  | 'PriceChangeEmpty'
  | 'PriceChangeNotAhead'
  /** details: `days`. */
  | 'PriceChangeTooFar'
  | 'PriceChangeNotDue'
  /** details: `limit`. */
  | 'TooManyPriceChanges'

export type OptionsRefusal = Refusal<OptionsRefusalCode>
