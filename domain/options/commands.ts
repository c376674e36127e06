import type { CodedError } from '../shared/coded-error.ts'
import type { PlannedEntry, PriceChangeScheduled } from './events.ts'

export type SetOption = {
  readonly type: 'SetOption'
  readonly key: string
  readonly value: string
  /** The value that the requester has read; if omitted, the current value is not checked. */
  readonly before?: string
}

/** `secretRef` is the vault reference of the text; an empty one clears the option. */
export type SetSecretOption = {
  readonly type: 'SetSecretOption'
  readonly key: string
  readonly secretRef: string
}

/** Resets the model ratios to the built-in ones. */
type ResetModelRatios = { readonly type: 'ResetModelRatios' }

/**
 * `at` and `now` are unix milliseconds. `replaces` is the scheduled change that this one replaces.
 */
export type SchedulePriceChange = {
  readonly type: 'SchedulePriceChange'
  readonly at: number
  readonly now: number
  readonly changes: readonly PlannedEntry[]
  readonly replaces?: number
}

type CancelPriceChange = { readonly type: 'CancelPriceChange'; readonly id: number }

/** Applies a scheduled change once; a repeat changes nothing. */
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
   * params: `key`, `fault` (an `OptionErrorCode`), and `name`, `minimum`, `maximum` where they
   * apply.
   */
  | 'InvalidOption'
  /** The option was set since the requester read it; params: `key`. */
  | 'OptionChanged'
  | 'PriceChangeUnknown'
  | 'PriceChangeEmpty'
  | 'PriceChangeNotAhead'
  /** params: `days`. */
  | 'PriceChangeTooFar'
  | 'PriceChangeNotDue'
  /** params: `limit`. */
  | 'TooManyPriceChanges'

export type OptionsError = CodedError<OptionsErrorCode>

/** A scheduled change that was neither applied nor cancelled. */
type PlannedChange = PriceChangeScheduled['data']

/** The texts that were set, and the vault references of secret ones. */
export type OptionsState = {
  readonly values: Map<string, string>
  readonly secretRefs: Map<string, string>
  readonly planned: Map<number, PlannedChange>
  /** The highest id of all changes ever scheduled; 0 if there was none. */
  lastPlannedId: number
}

export const initialOptions = (): OptionsState => ({
  values: new Map(),
  secretRefs: new Map(),
  planned: new Map(),
  lastPlannedId: 0,
})
