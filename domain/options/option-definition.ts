import type { Words } from '../shared/translated-text.ts'
import type { OptionType } from './option-type.ts'

/** The tab of the settings page that shows the option. */
export type SettingsTab = 'operation' | 'ratelimit' | 'models' | 'system' | 'other'

/** The unit of a numeric option. */
export type OptionUnit = 'quota' | 'dollar' | 'percent' | 'second' | 'minute' | 'millisecond'

/**
 * The restriction on who may set an option. `root`: only the super admin may set the option.
 * `secret`: in addition, the API never returns the option's text.
 */
export type OptionAccess = 'root' | 'secret'

/**
 * The definition of an option. The code derives the option's form field, validation, history and
 * documentation from this definition.
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
  /** The labels of the option's possible values, if the option is a choice. */
  readonly choiceWords?: Readonly<Record<string, Words>>
  /** Who may set the option. If it is omitted, every admin may set it. */
  readonly access?: OptionAccess
  /**
   * The reason why the site still stores an option that has no effect. Forms do not show options
   * with a note.
   */
  readonly note?: Words
  /** The error message for a value that is out of bounds. It replaces the general message. */
  readonly boundsWords?: Words
  /**
   * The key of another numeric option whose value is the minimum for this option. The minimum does
   * not apply if the other value is 0.
   */
  readonly notBelow?: string
  /**
   * Set if the option is an address to which this server sends requests. The outbound policy must
   * permit such an address.
   */
  readonly isAsked?: true
  /**
   * The value for which the form asks for confirmation before an admin chooses it. `words` is the
   * question.
   */
  readonly askBefore?: { readonly value: string; readonly words: Words }
}

/** A group of related options: one panel of the settings page and one file in `sections/`. */
export type OptionSection = {
  readonly id: string
  readonly tab: SettingsTab
  readonly title: Words
  /** An introductory sentence that the page shows below the title. */
  readonly lead?: Words
  readonly options: readonly OptionDefinition[]
}

export type OptionSchema = Omit<OptionDefinition, 'access' | 'preset'> & {
  readonly section: string
  readonly tab: SettingsTab
  readonly defaultText: string
  /** Set if the text is stored in the vault. The API never returns it. */
  readonly isSecret: boolean
  /** The lowest role that may set the option: 10 for admins, 100 for the super admin. */
  readonly minimumRole: 10 | 100
}

/** Returns the schemas of all options of a section. */
export const schemasOf = ({ id, tab, options }: OptionSection): readonly OptionSchema[] =>
  options.map(({ access, preset, ...row }) => ({
    ...row,
    section: id,
    tab,
    defaultText: preset,
    isSecret: access === 'secret',
    minimumRole: access === undefined ? 10 : 100,
  }))
