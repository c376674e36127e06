import type { CodedError } from '../shared/coded-error.ts'
import type { PlannedEntry, PriceChangeScheduled } from './events.ts'

export type SetOption = {
  readonly type: 'SetOption'
  readonly key: string
  readonly value: string
  /** What whoever sets it believes that it is; left out: whatever it is. */
  readonly before?: string
}

/** `secretRef`: vault reference of the text; empty clears the option. */
export type SetSecretOption = {
  readonly type: 'SetSecretOption'
  readonly key: string
  readonly secretRef: string
}

/** Model ratios as they are built in. */
type ResetModelRatios = { readonly type: 'ResetModelRatios' }

/** `at`, `now`: unix milliseconds. `replaces`: the planned one that it takes the place of. */
export type SchedulePriceChange = {
  readonly type: 'SchedulePriceChange'
  readonly at: number
  readonly now: number
  readonly changes: readonly PlannedEntry[]
  readonly replaces?: number
}

type CancelPriceChange = { readonly type: 'CancelPriceChange'; readonly id: number }

/** Changes nothing for one that is over already: applied once, however often it is asked for. */
export type ApplyPriceChange = {
  readonly type: 'ApplyPriceChange'
  readonly id: number
  readonly now: number
}

export type ScheduleCommand = SchedulePriceChange | CancelPriceChange | ApplyPriceChange

export type OptionsCommand = SetOption | SetSecretOption | ResetModelRatios | ScheduleCommand

export type OptionsErrorCode =
  | 'UnknownOption'
  /** params: `key`, `fault` (an `OptionErrorCode`); `name`, `minimum`, `maximum` as needed. */
  | 'InvalidOption'
  /** Somebody set it since it was looked at. params: `key`. */
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

/** Not applied yet, and not cancelled. */
type PlannedChange = PriceChangeScheduled['data']

/** The texts that were set, and the vault's references of the secret ones. */
export type OptionsState = {
  readonly values: Map<string, string>
  readonly secretRefs: Map<string, string>
  readonly planned: Map<number, PlannedChange>
  /** Of all changes that were ever scheduled; 0 for none. */
  lastPlannedId: number
}

export const initialOptions = (): OptionsState => ({
  values: new Map(),
  secretRefs: new Map(),
  planned: new Map(),
  lastPlannedId: 0,
})
