import type { OptionType } from './option-type.ts'

/** The tab of the settings page that shows the option. */
export type SettingsTab = 'operation' | 'ratelimit' | 'models' | 'system' | 'other'

export type OptionUnit = 'quota' | 'dollar' | 'percent' | 'second' | 'minute' | 'millisecond'

/**
 * `root`: only the super admin may set the option. `secret`: like `root`, and the API never returns
 * the value.
 */
export type OptionAccess = 'root' | 'secret'

/**
 * The definition of an option. The option's form field, validation and history are derived from the
 * definition. The texts of the form are in `read-api/contract/option-translations/`.
 */
export type OptionDefinition = {
  readonly key: string
  readonly type: OptionType
  readonly preset: string
  readonly unit?: OptionUnit
  /**
   * For an option that maps models to prices: the unit of the price, by the name of the model.
   * Versions of a model have the same unit as the model. The prices of models without a unit are
   * per call.
   */
  readonly entryUnits?: Readonly<Record<string, 'second' | 'call'>>
  /**
   * The access that is required to set the option. If it is omitted, every admin may set the
   * option.
   */
  readonly access?: OptionAccess
  /** The site checks and stores the option, but no code reads it. Forms do not show the option. */
  readonly hasNoEffect?: true
  /**
   * The key of another numeric option. The value of the other option is the minimum of this option.
   * If the value of the other option is 0, there is no minimum.
   */
  readonly notBelow?: string
  /**
   * This server sends requests to the option's address, so the outbound policy must permit the
   * address.
   */
  readonly isOutboundAddress?: true
}

/** A group of related options, which one panel of the settings page shows. */
export type OptionSection = {
  readonly id: string
  readonly tab: SettingsTab
  readonly options: readonly OptionDefinition[]
}

export type OptionSchema = Omit<OptionDefinition, 'access' | 'preset'> & {
  readonly section: string
  readonly tab: SettingsTab
  readonly defaultText: string
  readonly isSecret: boolean
  /** The lowest role that may set the option: 10 for admins, 100 for the super admin. */
  readonly minimumRole: 10 | 100
}

export const schemasOf = ({ id, tab, options }: OptionSection): readonly OptionSchema[] =>
  options.map(({ access, preset, ...row }) => ({
    ...row,
    section: id,
    tab,
    defaultText: preset,
    isSecret: access === 'secret',
    minimumRole: access === undefined ? 10 : 100,
  }))
