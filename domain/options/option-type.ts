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
  /** One line. `isRequired`: it is never empty. `form`: how it is written, unless it is empty. */
  | {
      readonly kind: 'text'
      readonly maxLength: number
      readonly isRequired?: boolean
      readonly form?: TextForm
    }
  /** Any number of lines. */
  | { readonly kind: 'lines'; readonly maxLength: number }
  /** Empty, or an http(s) address. */
  | { readonly kind: 'url' }
  /** Empty, or the link of a chat client: see `isChatLink`. */
  | { readonly kind: 'link' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /**
   * A JSON object of name → decimal, 0 or more, or above 0; it must have the name that is
   * `required`.
   */
  | { readonly kind: 'ratios'; readonly required?: string; readonly isAboveZero?: true }
  /** A JSON object of name → name → decimal, 0 or more. */
  | { readonly kind: 'nested-ratios' }
  /** A JSON object of name → one of the choices. */
  | { readonly kind: 'choice-by-name'; readonly choices: readonly string[] }
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

/** A server's name or IP address; a mailbox, with the name of its owner or without. */
export type TextForm = 'host' | 'mail'

const JSON_KINDS: ReadonlySet<OptionType['kind']> = new Set([
  'ratios',
  'nested-ratios',
  'choice-by-name',
  'names',
  'counts',
  'list',
  'links',
  'object',
])

/** Whether the option's text is JSON. */
export const isJsonType = ({ kind }: OptionType): boolean => JSON_KINDS.has(kind)

export const FLAG: OptionType = { kind: 'flag' }
export const URL_TEXT: OptionType = { kind: 'url' }
export const LINK: OptionType = { kind: 'link' }
export const RATIOS: OptionType = { kind: 'ratios' }
export const RATIOS_ABOVE_ZERO: OptionType = { kind: 'ratios', isAboveZero: true }
export const NAMES: OptionType = { kind: 'names' }
export const LIST: OptionType = { kind: 'list' }
/** The longest secret: a private key in PEM fits. */
export const SECRET: OptionType = { kind: 'text', maxLength: 20_000 }
export const text = (maxLength: number): OptionType => ({ kind: 'text', maxLength })
export const formed = (form: TextForm, maxLength: number): OptionType => ({
  kind: 'text',
  maxLength,
  form,
})
export const lines = (maxLength: number): OptionType => ({ kind: 'lines', maxLength })
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
/** Quota, in whole units. */
export const QUOTA_UNITS: OptionType = integer(0, Number.MAX_SAFE_INTEGER)
