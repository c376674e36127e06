/** Which tab of the settings page shows it. */
export type SettingsTab = 'operation' | 'ratelimit' | 'models' | 'system' | 'other'

export type OptionType =
  | { readonly kind: 'flag' }
  | { readonly kind: 'integer'; readonly minimum: number; readonly maximum: number }
  /** `isOptional`: an empty text is allowed and means none. */
  | {
      readonly kind: 'decimal'
      readonly minimum: string
      readonly maximum: string
      readonly isOptional: boolean
    }
  | { readonly kind: 'text'; readonly maxLength: number }
  /** Empty, or an http(s) address. */
  | { readonly kind: 'url' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** A JSON object of name → decimal, 0 or more; it must have the name that is `required`. */
  | { readonly kind: 'ratios'; readonly required?: string }
  /** A JSON object of name → text. */
  | { readonly kind: 'names' }
  /** A JSON object of name → whole number, 1 or more. */
  | { readonly kind: 'counts' }
  /** A JSON list of texts. */
  | { readonly kind: 'list' }
  /** A JSON list of objects of one or more names → links. */
  | { readonly kind: 'links' }
  /** Any JSON object. */
  | { readonly kind: 'object' }

/** Everything about one option: form, check and documents follow from it. */
export type OptionSchema = {
  readonly key: string
  /** What it is, in a few words. */
  readonly label: string
  readonly tab: SettingsTab
  readonly type: OptionType
  /** In force while nothing else is set. */
  readonly defaultText: string
  /** The text goes to the vault and is never read back. */
  readonly isSecret: boolean
  /** 10 admin, 100 super admin. */
  readonly minimumRole: 10 | 100
}

type Row = readonly [
  key: string,
  type: OptionType,
  defaultText: string,
  label: string,
  access?: 'root' | 'secret',
]

/** The options of one tab, from rows of key, type, default, label and who may set it. */
export const optionsOf = (tab: SettingsTab, rows: readonly Row[]): readonly OptionSchema[] =>
  rows.map(([key, type, defaultText, label, access]) => ({
    key,
    label,
    tab,
    type,
    defaultText,
    isSecret: access === 'secret',
    minimumRole: access === undefined ? 10 : 100,
  }))

export const FLAG: OptionType = { kind: 'flag' }
export const URL_TEXT: OptionType = { kind: 'url' }
export const RATIOS: OptionType = { kind: 'ratios' }
export const text = (maxLength: number): OptionType => ({ kind: 'text', maxLength })
export const integer = (minimum: number, maximum: number): OptionType => ({
  kind: 'integer',
  minimum,
  maximum,
})
export const decimal = (minimum: string, maximum: string, isOptional = false): OptionType => ({
  kind: 'decimal',
  minimum,
  maximum,
  isOptional,
})
