import type { CodedError } from '../shared/coded-error.ts'
import type { PlannedEntry, PriceChangeScheduled } from './events.ts'

export type SetOption = {
  readonly type: 'SetOption'
  readonly key: string
  readonly value: string
  /**
   * The value that the admin saw. The command is refused if the current value differs from this
   * value and from the new value.
   */
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

type ResetModelRatios = { readonly type: 'ResetModelRatios' }

/**
 * Schedules a price change. `at` and `now` are in Unix milliseconds. If `replaces` is set, the
 * scheduled change with this id is cancelled.
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
   * The value is invalid. Params: `key`, `error` (an `OptionErrorCode`) and, for some errors,
   * `name`, `minimum` and `maximum`.
   */
  | 'InvalidOption'
  /** The option was changed after the admin had read it. Params: `key`. */
  | 'OptionChanged'
  | 'PriceChangeUnknown'
  | 'PriceChangeEmpty'
  | 'PriceChangeNotAhead'
  /** The change is scheduled too far ahead. Params: `days`, the maximum number of days. */
  | 'PriceChangeTooFar'
  | 'PriceChangeNotDue'
  /** Too many changes are scheduled, or the new change has too many entries. Params: `limit`. */
  | 'TooManyPriceChanges'

export type OptionsError = CodedError<OptionsErrorCode>

/**
 * A scheduled price change that is pending: it was not applied or cancelled, and has not failed.
 */
type PlannedChange = PriceChangeScheduled['data']

/**
 * `values` has the texts of ordinary options. `secretRefs` has the vault references of secret
 * options. `planned` has the scheduled price changes by id.
 */
export type OptionsState = {
  readonly values: Map<string, string>
  readonly secretRefs: Map<string, string>
  readonly planned: Map<number, PlannedChange>
  /** The highest id of a scheduled price change so far, or 0. */
  lastPlannedId: number
}

export const initialOptions = (): OptionsState => ({
  values: new Map(),
  secretRefs: new Map(),
  planned: new Map(),
  lastPlannedId: 0,
})
