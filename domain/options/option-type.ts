/** The type of an option's value. All values are stored as text. */
export type OptionType =
  | { readonly kind: 'flag' }
  | { readonly kind: 'integer'; readonly minimum: number; readonly maximum: number }
  /** A decimal. If `isOptional` is set, an empty text means that the option has no value. */
  | {
      readonly kind: 'decimal'
      readonly minimum: string
      readonly maximum: string
      readonly isOptional: boolean
    }
  /** One line of text. An empty text is not checked against `form`. */
  | {
      readonly kind: 'text'
      readonly maxLength: number
      readonly isRequired?: boolean
      readonly form?: TextForm
    }
  | { readonly kind: 'lines'; readonly maxLength: number }
  /** An http(s) address. It may be empty. */
  | { readonly kind: 'url' }
  /** A link to a chat client (see `isChatLink`). It may be empty. */
  | { readonly kind: 'link' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /**
   * A JSON object that maps names to decimals of 0 or more. If `required` is set, the object must
   * contain this name.
   */
  | { readonly kind: 'ratios'; readonly required?: string; readonly isAboveZero?: true }
  /** A JSON object whose values are JSON objects that map names to decimals of 0 or more. */
  | { readonly kind: 'nested-ratios' }
  /** A JSON object that maps models to lists of tiers (see `readTiers`). */
  | { readonly kind: 'context-tiers' }
  /** A JSON object that maps names to elements of `choices`. */
  | { readonly kind: 'choice-by-name'; readonly choices: readonly string[] }
  /** A JSON object that maps names to texts. */
  | { readonly kind: 'names' }
  /**
   * A JSON object that maps names to objects of HTTP headers. The value of a header is a text or a
   * list of texts.
   */
  | { readonly kind: 'headers-by-name' }
  /** A JSON object that maps names to integers of at least 1. */
  | { readonly kind: 'counts' }
  /** A JSON object that maps names to JSON arrays of texts. */
  | { readonly kind: 'lists-by-name' }
  /**
   * A JSON object that maps names to objects. These objects may contain only the names in
   * `members`, with integers of 0 or more.
   */
  | { readonly kind: 'limits-by-name'; readonly members: readonly string[] }
  /** A JSON array of texts. */
  | { readonly kind: 'list' }
  /** A JSON array of objects that map one or more names to links. */
  | { readonly kind: 'links' }
  /** Any JSON object. */
  | { readonly kind: 'object' }

/**
 * The format of a line of text. `host`: a host name or IP address. `mail`: an email address with or
 * without a name.
 */
export type TextForm = 'host' | 'mail'

const JSON_KINDS: ReadonlySet<OptionType['kind']> = new Set([
  'ratios',
  'nested-ratios',
  'context-tiers',
  'choice-by-name',
  'names',
  'headers-by-name',
  'counts',
  'lists-by-name',
  'limits-by-name',
  'list',
  'links',
  'object',
])

export const isJsonType = ({ kind }: OptionType): boolean => JSON_KINDS.has(kind)

export const FLAG: OptionType = { kind: 'flag' }
export const URL_TEXT: OptionType = { kind: 'url' }
export const LINK: OptionType = { kind: 'link' }
export const RATIOS: OptionType = { kind: 'ratios' }
export const RATIOS_ABOVE_ZERO: OptionType = { kind: 'ratios', isAboveZero: true }
export const NAMES: OptionType = { kind: 'names' }
export const LIST: OptionType = { kind: 'list' }
/** The maximum length leaves room for a private key in PEM format. */
export const SECRET: OptionType = { kind: 'text', maxLength: 20_000 }
export const text = (maxLength: number): OptionType => ({ kind: 'text', maxLength })
export const formattedText = (form: TextForm, maxLength: number): OptionType => ({
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
export const QUOTA_UNITS: OptionType = integer(0, Number.MAX_SAFE_INTEGER)
