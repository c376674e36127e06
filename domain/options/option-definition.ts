import type { Words } from '../shared/translated-text.ts'
import type { OptionType } from './option-type.ts'

/** The tab of the settings page that shows the option. */
export type SettingsTab = 'operation' | 'ratelimit' | 'models' | 'system' | 'other'

export type OptionUnit = 'quota' | 'dollar' | 'percent' | 'second' | 'minute' | 'millisecond'

/**
 * `root`: only the super admin may set the option. `secret`: in addition, the API never returns it.
 */
export type OptionAccess = 'root' | 'secret'

/** An option's form field, validation, history and documentation follow from its definition. */
export type OptionDefinition = {
  readonly key: string
  readonly type: OptionType
  readonly preset: string
  readonly label: Words
  /** What admins need to know before they change the option. */
  readonly help?: Words
  readonly unit?: OptionUnit
  /** The labels of the possible values, if the option is a choice. */
  readonly choiceWords?: Readonly<Record<string, Words>>
  /** Who may set the option. If it is omitted, every admin may set it. */
  readonly access?: OptionAccess
  /** Why the site still stores an option that has no effect. Forms do not show such an option. */
  readonly note?: Words
  /** Replaces the general error message for a value that is out of bounds. */
  readonly boundsWords?: Words
  /** The key of a numeric option whose value is the minimum for this option; 0 means no minimum. */
  readonly notBelow?: string
  /** This server sends requests to the option's address, so the outbound policy must permit it. */
  readonly isOutboundAddress?: true
  /** The form asks the question `words` before an admin chooses `value`. */
  readonly askBefore?: { readonly value: string; readonly words: Words }
}

/** A group of related options: one panel of the settings page and one file in `sections/`. */
export type OptionSection = {
  readonly id: string
  readonly tab: SettingsTab
  readonly title: Words
  readonly lead?: Words
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
