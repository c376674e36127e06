import type { PlannedEntry } from './events.ts'

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
export type ResetModelRatios = { readonly type: 'ResetModelRatios' }

/** `at`, `now`: unix milliseconds. `replaces`: the planned one that it takes the place of. */
export type SchedulePriceChange = {
  readonly type: 'SchedulePriceChange'
  readonly at: number
  readonly now: number
  readonly changes: readonly PlannedEntry[]
  readonly replaces?: number
}

export type CancelPriceChange = { readonly type: 'CancelPriceChange'; readonly id: number }

/** Changes nothing for one that is over already: applied once, however often it is asked for. */
export type ApplyPriceChange = {
  readonly type: 'ApplyPriceChange'
  readonly id: number
  readonly now: number
}

export type ScheduleCommand = SchedulePriceChange | CancelPriceChange | ApplyPriceChange

export type OptionsCommand = SetOption | SetSecretOption | ResetModelRatios | ScheduleCommand
