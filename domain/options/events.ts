import type { DecimalText } from '../pricing/price-snapshot.ts'
import type { Fact, Recorded } from '../shared/event.ts'

export const OPTIONS_STREAM = 'options'

/**
 * An option was set. `value` is the new value in the form in which it is stored. `before` is the
 * previous value, which is the default value if no value was set. `before` is null if the previous
 * value is unknown or too long for the event.
 */
export type OptionSet = Fact<
  'OptionSet',
  { readonly key: string; readonly value: string; readonly before: string | null }
>

/**
 * A secret option was set. The option's text is in the vault. An empty `secretRef` means that the
 * option was cleared.
 */
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

/**
 * A price change was scheduled. `at` is the time at which the change is due, in Unix milliseconds.
 */
export type PriceChangeScheduled = Fact<
  'PriceChangeScheduled',
  { readonly id: number; readonly at: number; readonly changes: readonly PlannedEntry[] }
>

export type PriceChangeCancelled = Fact<'PriceChangeCancelled', { readonly id: number }>

/**
 * A scheduled price change was applied. The same append contains the events that set the options.
 */
export type PriceChangeApplied = Fact<'PriceChangeApplied', { readonly id: number }>

/**
 * A scheduled price change could not be applied, because it would make `option` invalid. `fault` is
 * the error code.
 */
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
