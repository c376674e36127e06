import type { Words } from '../shared/words.ts'
import type { OptionType } from './option-type.ts'

/** Which tab of the settings page shows it. */
export type SettingsTab = 'operation' | 'ratelimit' | 'models' | 'system' | 'other'

/** What a number counts. */
export type OptionUnit = 'quota' | 'dollar' | 'percent' | 'second' | 'minute' | 'millisecond'

/** Who may set it: `root` the super admin alone; `secret` too, and the text is never read back. */
export type OptionAccess = 'root' | 'secret'

/** Everything about one option: form, check, history and documents follow from it. */
export type OptionRow = {
  readonly key: string
  readonly type: OptionType
  /** In force while nothing else is set. */
  readonly preset: string
  /** What it is, in a few words. */
  readonly label: Words
  /** What to know before changing it. */
  readonly help?: Words
  readonly unit?: OptionUnit
  /** Of a choice: what each value is called. */
  readonly choiceWords?: Readonly<Record<string, Words>>
  /** Left out: every admin may set it. */
  readonly access?: OptionAccess
  /** That nothing acts on it, and why it is kept: its form says so. See `notes.ts`. */
  readonly note?: Words
  /** Said instead of the general words when the value is out of bounds. */
  readonly boundsWords?: Words
  /** Another number option that forms don't let this one be below; 0 is no bound. */
  readonly notBelow?: string
  /** This server asks the address: the outbound policy has to let it. */
  readonly isAsked?: true
  /** The form asks before this value is chosen. */
  readonly askBefore?: { readonly value: string; readonly words: Words }
}

/** A group of options that belong together: a panel of the settings page, a file of `sections/`. */
export type OptionSection = {
  readonly id: string
  readonly tab: SettingsTab
  readonly title: Words
  /** One sentence under the title. */
  readonly lead?: Words
  readonly options: readonly OptionRow[]
}

export type OptionSchema = Omit<OptionRow, 'access' | 'preset'> & {
  readonly section: string
  readonly tab: SettingsTab
  readonly defaultText: string
  /** The text goes to the vault and is never read back. */
  readonly isSecret: boolean
  /** 10 admin, 100 super admin. */
  readonly minimumRole: 10 | 100
}

/** The options of a section, each with what follows from its row. */
export const schemasOf = ({ id, tab, options }: OptionSection): readonly OptionSchema[] =>
  options.map(({ access, preset, ...row }) => ({
    ...row,
    section: id,
    tab,
    defaultText: preset,
    isSecret: access === 'secret',
    minimumRole: access === undefined ? 10 : 100,
  }))
