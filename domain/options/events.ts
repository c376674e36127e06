import type { DecimalText } from '../pricing/price.ts'
import type { Fact, Recorded } from '../shared/event.ts'

export const OPTIONS_STREAM = 'options'

/**
 * `value` is the option's text as the registry's check normalised it; `before` what was in force
 * until then: set, or by the default of that day. null where it isn't known.
 */
export type OptionSet = Fact<
  'OptionSet',
  { readonly key: string; readonly value: string; readonly before: string | null }
>

/** A secret option: the text is in the vault. Empty references stand for none. */
export type SecretOptionSet = Fact<
  'SecretOptionSet',
  { readonly key: string; readonly secretRef: string; readonly before: string | null }
>

/** One entry of a price option as it is to be; null: taken out. */
export type PlannedEntry = {
  readonly option: string
  readonly name: string
  readonly value: DecimalText | null
}

/** `at`: unix milliseconds. */
export type PriceChangeScheduled = Fact<
  'PriceChangeScheduled',
  { readonly id: number; readonly at: number; readonly changes: readonly PlannedEntry[] }
>

export type PriceChangeCancelled = Fact<'PriceChangeCancelled', { readonly id: number }>

/** The options that it sets follow in the same append. */
export type PriceChangeApplied = Fact<'PriceChangeApplied', { readonly id: number }>

/** Its time came and it could not be: `fault` is why the option would not take it. */
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

/** The newest version of each shape. */
export const OPTIONS_VERSIONS: Readonly<Record<OptionsEvent['type'], number>> = {
  OptionSet: 2,
  SecretOptionSet: 2,
  PriceChangeScheduled: 1,
  PriceChangeCancelled: 1,
  PriceChangeApplied: 1,
  PriceChangeFailed: 1,
}

/** An event as it was recorded, in its newest shape: version 1 didn't say what was there before. */
export const upcastOption = <E extends Recorded<SettingEvent>>(event: E): E =>
  event.v > 1 ? event : { ...event, v: 2, data: { ...event.data, before: null } }
