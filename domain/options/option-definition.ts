import type { Words } from '../shared/translated-text.ts'
import type { OptionType } from './option-type.ts'

/** The tab of the settings page that shows the option. */
export type SettingsTab = 'operation' | 'ratelimit' | 'models' | 'system' | 'other'

/** The unit of a numeric option. */
export type OptionUnit = 'quota' | 'dollar' | 'percent' | 'second' | 'minute' | 'millisecond'

/**
 * The restriction on who may set an option. `root` means that only the super admin may set it.
 * `secret` means in addition that its text can never be read.
 */
export type OptionAccess = 'root' | 'secret'

/**
 * The definition of an option. Its form, validation, history and documentation are derived from it.
 */
export type OptionDefinition = {
  readonly key: string
  readonly type: OptionType
  /** The default value of the option. */
  readonly preset: string
  /** The short label of the option. */
  readonly label: Words
  /** Help text with what admins need to know before they change the option. */
  readonly help?: Words
  readonly unit?: OptionUnit
  /** The labels of the values of a choice. */
  readonly choiceWords?: Readonly<Record<string, Words>>
  /** Who may set the option. If it is omitted, every admin may set it. */
  readonly access?: OptionAccess
  /** The reason why an option without effect is kept. Forms omit options with a note. */
  readonly note?: Words
  /** The error message for a value that is out of bounds. It replaces the general message. */
  readonly boundsWords?: Words
  /**
   * The key of another numeric option. Forms do not allow a value below the value of that option,
   * unless that value is 0.
   */
  readonly notBelow?: string
  /** Set if this server sends requests to the address, which the outbound policy must permit. */
  readonly isAsked?: true
  /** A value for which the form asks for confirmation before it is chosen. */
  readonly askBefore?: { readonly value: string; readonly words: Words }
}

/** A group of related options: one panel of the settings page and one file in `sections/`. */
export type OptionSection = {
  readonly id: string
  readonly tab: SettingsTab
  readonly title: Words
  /** One introductory sentence below the title. */
  readonly lead?: Words
  readonly options: readonly OptionDefinition[]
}

export type OptionSchema = Omit<OptionDefinition, 'access' | 'preset'> & {
  readonly section: string
  readonly tab: SettingsTab
  readonly defaultText: string
  /** Set if the text is stored in the vault and can never be read. */
  readonly isSecret: boolean
  /** The lowest role that may set the option: 10 is an admin, 100 the super admin. */
  readonly minimumRole: 10 | 100
}

/** Returns the schemas of a section's options, derived from their rows. */
export const schemasOf = ({ id, tab, options }: OptionSection): readonly OptionSchema[] =>
  options.map(({ access, preset, ...row }) => ({
    ...row,
    section: id,
    tab,
    defaultText: preset,
    isSecret: access === 'secret',
    minimumRole: access === undefined ? 10 : 100,
  }))
