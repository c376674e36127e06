import type { DecimalText } from '../pricing/price.ts'
import type { Fact, Recorded } from '../shared/event.ts'

export const OPTIONS_STREAM = 'options'

/**
 * `value` is the text as normalised by the registry. `before` is the previous value (set or
 * default), or null where it is unknown.
 */
export type OptionSet = Fact<
  'OptionSet',
  { readonly key: string; readonly value: string; readonly before: string | null }
>

/** The text of a secret option is in the vault. An empty reference means no text. */
export type SecretOptionSet = Fact<
  'SecretOptionSet',
  { readonly key: string; readonly secretRef: string; readonly before: string | null }
>

/** An entry of a price option with its new value; null removes it. */
export type PlannedEntry = {
  readonly option: string
  readonly name: string
  readonly value: DecimalText | null
}

/** `at` is in unix milliseconds. */
export type PriceChangeScheduled = Fact<
  'PriceChangeScheduled',
  { readonly id: number; readonly at: number; readonly changes: readonly PlannedEntry[] }
>

export type PriceChangeCancelled = Fact<'PriceChangeCancelled', { readonly id: number }>

/** The events that set the options follow in the same append. */
export type PriceChangeApplied = Fact<'PriceChangeApplied', { readonly id: number }>

/** The change could not be applied when its time came; `fault` is the error of the option. */
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

/** The latest version of each event. */
export const OPTIONS_VERSIONS: Readonly<Record<OptionsEvent['type'], number>> = {
  OptionSet: 2,
  SecretOptionSet: 2,
  PriceChangeScheduled: 1,
  PriceChangeCancelled: 1,
  PriceChangeApplied: 1,
  PriceChangeFailed: 1,
}

/** Converts a recorded event to its latest version: version 1 did not have the previous value. */
export const upcastOption = <E extends Recorded<SettingEvent>>(event: E): E =>
  event.v > 1 ? event : { ...event, v: 2, data: { ...event.data, before: null } }
