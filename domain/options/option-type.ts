export type OptionType =
  | { readonly kind: 'flag' }
  | { readonly kind: 'integer'; readonly minimum: number; readonly maximum: number }
  /** With `isOptional`, an empty text is allowed and means none. */
  | {
      readonly kind: 'decimal'
      readonly minimum: string
      readonly maximum: string
      readonly isOptional: boolean
    }
  /** One line of text. With `isRequired`, it is not empty. `form` is checked unless it is empty. */
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
  /** Empty, or the link of a chat client (see `isChatLink`). */
  | { readonly kind: 'link' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /**
   * A JSON object that maps names to decimals of 0 or more, or above 0. It must have the name in
   * `required`.
   */
  | { readonly kind: 'ratios'; readonly required?: string; readonly isAboveZero?: true }
  /** A JSON object of JSON objects that map names to decimals of 0 or more. */
  | { readonly kind: 'nested-ratios' }
  /** A JSON object that maps names to one of the choices. */
  | { readonly kind: 'choice-by-name'; readonly choices: readonly string[] }
  /** A JSON object that maps names to texts. */
  | { readonly kind: 'names' }
  /** A JSON object that maps names to integers of 1 or more. */
  | { readonly kind: 'counts' }
  /** A JSON array of texts. */
  | { readonly kind: 'list' }
  /** A JSON array of objects that map one or more names to links. */
  | { readonly kind: 'links' }
  /** Any JSON object. */
  | { readonly kind: 'object' }

/** A host name or IP address, or an email address with or without a display name. */
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
/** The longest secret: a private key in PEM fits into it. */
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
/** Quota in whole units. */
export const QUOTA_UNITS: OptionType = integer(0, Number.MAX_SAFE_INTEGER)
