import type { CodedError } from '../shared/coded-error.ts'
import type { PlannedEntry, PriceChangeScheduled } from './events.ts'

export type SetOption = {
  readonly type: 'SetOption'
  readonly key: string
  readonly value: string
  /** The value that the admin saw. If `before` is omitted, the current value is not checked. */
  readonly before?: string
}

/**
 * Sets a secret option. `secretRef` is the vault reference of the secret. An empty reference clears
 * the option.
 */
export type SetSecretOption = {
  readonly type: 'SetSecretOption'
  readonly key: string
  readonly secretRef: string
}

/** Resets the model ratios to the built-in ratios. */
type ResetModelRatios = { readonly type: 'ResetModelRatios' }

/**
 * Schedules a price change. `at` and `now` are in unix milliseconds. `replaces` is the id of an
 * earlier scheduled change, which is cancelled.
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
   * The value is invalid. The error's `params` are `key`, `fault` (an `OptionErrorCode`) and,
   * depending on the fault, `name`, `minimum` and `maximum`.
   */
  | 'InvalidOption'
  /**
   * The option was changed after the admin had read it. The error's `params` contain the option's
   * `key`.
   */
  | 'OptionChanged'
  | 'PriceChangeUnknown'
  | 'PriceChangeEmpty'
  | 'PriceChangeNotAhead'
  /**
   * The change is scheduled too far ahead. The error's `params` contain the maximum number of days
   * as `days`.
   */
  | 'PriceChangeTooFar'
  | 'PriceChangeNotDue'
  /**
   * There would be too many scheduled changes. The error's `params` contain the maximum as `limit`.
   */
  | 'TooManyPriceChanges'

export type OptionsError = CodedError<OptionsErrorCode>

/** A scheduled price change that has not been applied or cancelled yet. */
type PlannedChange = PriceChangeScheduled['data']

/**
 * The state of all options. `values` contains the texts of ordinary options, and `secretRefs` the
 * vault references of secret options. `planned` contains the scheduled price changes by id.
 */
export type OptionsState = {
  readonly values: Map<string, string>
  readonly secretRefs: Map<string, string>
  readonly planned: Map<number, PlannedChange>
  /**
   * The highest id that a scheduled price change ever had. It is 0 if no change was ever scheduled.
   */
  lastPlannedId: number
}

export const initialOptions = (): OptionsState => ({
  values: new Map(),
  secretRefs: new Map(),
  planned: new Map(),
  lastPlannedId: 0,
})
