import type { CodedError } from '../shared/coded-error.ts'
import type { PlannedEntry, PriceChangeScheduled } from './events.ts'

export type SetOption = {
  readonly type: 'SetOption'
  readonly key: string
  readonly value: string
  /** The value that the admin has seen. If it is omitted, the current value is not checked. */
  readonly before?: string
}

/** Sets a secret option. `secretRef` is the text's vault reference; empty clears the option. */
export type SetSecretOption = {
  readonly type: 'SetSecretOption'
  readonly key: string
  readonly secretRef: string
}

/** Resets the model ratios to the built-in ratios. */
type ResetModelRatios = { readonly type: 'ResetModelRatios' }

/**
 * Schedules a price change. `at` and `now` are in unix milliseconds. `replaces` is the id of an
 * earlier scheduled change that is cancelled.
 */
export type SchedulePriceChange = {
  readonly type: 'SchedulePriceChange'
  readonly at: number
  readonly now: number
  readonly changes: readonly PlannedEntry[]
  readonly replaces?: number
}

type CancelPriceChange = { readonly type: 'CancelPriceChange'; readonly id: number }

/** Applies a scheduled price change once. A repeated command changes nothing. */
export type ApplyPriceChange = {
  readonly type: 'ApplyPriceChange'
  readonly id: number
  readonly now: number
}

export type ScheduleCommand = SchedulePriceChange | CancelPriceChange | ApplyPriceChange

export type OptionsCommand = SetOption | SetSecretOption | ResetModelRatios | ScheduleCommand

export type OptionsErrorCode =
  | 'UnknownOption'
  /**
   * The value is invalid. params: `key`, `fault` (an `OptionErrorCode`), and, if they apply,
   * `name`, `minimum` and `maximum`.
   */
  | 'InvalidOption'
  /** The option was changed after the admin had read it. params: `key`. */
  | 'OptionChanged'
  | 'PriceChangeUnknown'
  | 'PriceChangeEmpty'
  | 'PriceChangeNotAhead'
  /** The change is scheduled more than `days` ahead. params: `days`. */
  | 'PriceChangeTooFar'
  | 'PriceChangeNotDue'
  /** The number of scheduled changes would exceed `limit`. params: `limit`. */
  | 'TooManyPriceChanges'

export type OptionsError = CodedError<OptionsErrorCode>

/** A scheduled price change that was neither applied nor cancelled. */
type PlannedChange = PriceChangeScheduled['data']

/** The texts of the options that were set, and the vault references of the secret options. */
export type OptionsState = {
  readonly values: Map<string, string>
  readonly secretRefs: Map<string, string>
  readonly planned: Map<number, PlannedChange>
  /** The highest id of any price change that was ever scheduled. 0 means that there was none. */
  lastPlannedId: number
}

export const initialOptions = (): OptionsState => ({
  values: new Map(),
  secretRefs: new Map(),
  planned: new Map(),
  lastPlannedId: 0,
})
