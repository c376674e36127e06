import type { Words } from '../shared/words.ts'
import type { OptionType } from './option-type.ts'

/** The tab of the settings page that shows the option. */
export type SettingsTab = 'operation' | 'ratelimit' | 'models' | 'system' | 'other'

/** The unit of a number. */
export type OptionUnit = 'quota' | 'dollar' | 'percent' | 'second' | 'minute' | 'millisecond'

/**
 * Who may set the option: with `root` only the super admin; with `secret`, in addition, the text
 * can never be read.
 */
export type OptionAccess = 'root' | 'secret'

/** The definition of one option, from which form, validation, history and documentation follow. */
export type OptionRow = {
  readonly key: string
  readonly type: OptionType
  /** The default value. */
  readonly preset: string
  /** A short label. */
  readonly label: Words
  /** What admins need to know before they change the option. */
  readonly help?: Words
  readonly unit?: OptionUnit
  /** The labels of a choice's values. */
  readonly choiceWords?: Readonly<Record<string, Words>>
  /** If omitted, every admin may set it. */
  readonly access?: OptionAccess
  /** States that the option has no effect and why it is kept: forms leave it out. */
  readonly note?: Words
  /** Replaces the general message when the value is out of bounds. */
  readonly boundsWords?: Words
  /** Another numeric option that forms do not allow this one to fall below; 0 means no bound. */
  readonly notBelow?: string
  /** This server sends requests to the address, so the outbound policy must permit it. */
  readonly isAsked?: true
  /** The form asks for confirmation before this value is chosen. */
  readonly askBefore?: { readonly value: string; readonly words: Words }
}

/** A group of related options: one panel of the settings page, and one file in `sections/`. */
export type OptionSection = {
  readonly id: string
  readonly tab: SettingsTab
  readonly title: Words
  /** One sentence below the title. */
  readonly lead?: Words
  readonly options: readonly OptionRow[]
}

export type OptionSchema = Omit<OptionRow, 'access' | 'preset'> & {
  readonly section: string
  readonly tab: SettingsTab
  readonly defaultText: string
  /** The text goes to the vault and can never be read. */
  readonly isSecret: boolean
  /** 10 is an admin, 100 the super admin. */
  readonly minimumRole: 10 | 100
}

/** The schemas of a section's options, derived from their rows. */
export const schemasOf = ({ id, tab, options }: OptionSection): readonly OptionSchema[] =>
  options.map(({ access, preset, ...row }) => ({
    ...row,
    section: id,
    tab,
    defaultText: preset,
    isSecret: access === 'secret',
    minimumRole: access === undefined ? 10 : 100,
  }))
