import type { DecimalText } from '../pricing/price.ts'
import type { Fact, Recorded } from '../shared/event.ts'

export const OPTIONS_STREAM = 'options'

/**
 * `value` is the normalised text. `before` is the previous or default value, or null if unknown.
 */
export type OptionSet = Fact<
  'OptionSet',
  { readonly key: string; readonly value: string; readonly before: string | null }
>

/** The option's text is in the vault. An empty reference means that the option was cleared. */
export type SecretOptionSet = Fact<
  'SecretOptionSet',
  { readonly key: string; readonly secretRef: string; readonly before: string | null }
>

/** The new value of one entry of a price option. null removes the entry. */
export type PlannedEntry = {
  readonly option: string
  readonly name: string
  readonly value: DecimalText | null
}

/** `at` is the time at which the change is due, in unix milliseconds. */
export type PriceChangeScheduled = Fact<
  'PriceChangeScheduled',
  { readonly id: number; readonly at: number; readonly changes: readonly PlannedEntry[] }
>

export type PriceChangeCancelled = Fact<'PriceChangeCancelled', { readonly id: number }>

/** The events that set the changed options are part of the same append. */
export type PriceChangeApplied = Fact<'PriceChangeApplied', { readonly id: number }>

/** `fault` is the error code of the invalid option. */
export type PriceChangeFailed = Fact<
  'PriceChangeFailed',
  { readonly id: number; readonly option: string; readonly fault: string }
>

export type ScheduleEvent =
  | PriceChangeScheduled
  | PriceChangeCancelled
  | PriceChangeApplied
  | PriceChangeFailed

export type SettingEvent = OptionSet | SecretOptionSet

export type OptionsEvent = SettingEvent | ScheduleEvent

export const OPTIONS_VERSIONS: Readonly<Record<OptionsEvent['type'], number>> = {
  OptionSet: 2,
  SecretOptionSet: 2,
  PriceChangeScheduled: 1,
  PriceChangeCancelled: 1,
  PriceChangeApplied: 1,
  PriceChangeFailed: 1,
}

/** Converts an event to its latest version. Version 1 had no previous value of the option. */
export const upcastOption = <E extends Recorded<SettingEvent>>(event: E): E =>
  event.v > 1 ? event : { ...event, v: 2, data: { ...event.data, before: null } }
