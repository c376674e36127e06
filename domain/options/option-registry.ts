import { assert } from '../shared/assert.ts'
import { codedError } from '../shared/coded-error.ts'
import { checkText } from './check-option.ts'
import type { OptionsError } from './commands.ts'
import { type OptionSchema, type OptionSection, schemasOf } from './option-definition.ts'
import { CHANNEL_HEALTH, CHANNELS } from './sections/channels.ts'
import { CHATS, DRAWING } from './sections/chats-and-drawing.ts'
import { GITHUB, LINUXDO, LOGIN, OIDC, TELEGRAM, TURNSTILE, WECHAT } from './sections/login.ts'
import { CLAUDE, GEMINI, GLOBAL } from './sections/models.ts'
import { PAYMENT, STRIPE } from './sections/payment.ts'
import { FALLBACK_PRICING, GROUPS, OTHER_RATIOS, PRICES } from './sections/prices.ts'
import { QUOTA, REBATE } from './sections/quota.ts'
import { SCREENING } from './sections/screening.ts'
import { APPEARANCE, PAGES, SITE, SMTP, STATISTICS, UPDATE } from './sections/site.ts'
import { USAGE_LIMITS } from './sections/usage-limits.ts'

/** All sections in the order in which the settings page shows them. */
export const SECTIONS: readonly OptionSection[] = [
  QUOTA,
  REBATE,
  CHATS,
  GROUPS,
  OTHER_RATIOS,
  FALLBACK_PRICING,
  PRICES,
  USAGE_LIMITS,
  GLOBAL,
  CHANNELS,
  CHANNEL_HEALTH,
  SCREENING,
  GEMINI,
  CLAUDE,
  SITE,
  LOGIN,
  SMTP,
  GITHUB,
  OIDC,
  LINUXDO,
  TELEGRAM,
  WECHAT,
  TURNSTILE,
  PAYMENT,
  STRIPE,
  APPEARANCE,
  PAGES,
  STATISTICS,
  DRAWING,
  UPDATE,
]

export const OPTIONS: ReadonlyMap<string, OptionSchema> = new Map(
  SECTIONS.flatMap(schemasOf).map((schema) => [schema.key, schema]),
)

/**
 * Checks the value of an option that is not secret. Returns the value in the form in which it is
 * stored, or the error.
 */
export function checkOption(key: string, value: string): { readonly value: string } | OptionsError {
  const schema = OPTIONS.get(key)
  if (schema === undefined) return codedError('UnknownOption', { key: key.slice(0, 200) })
  if (schema.isSecret) return codedError('InvalidOption', { key, error: 'secret' })
  const checked = checkText(schema.type, value)
  return 'error' in checked ? codedError('InvalidOption', { key, ...checked }) : checked
}

/** Returns the text that an admin has set, or the default text. Throws if the key is unknown. */
export function optionValue(values: ReadonlyMap<string, string>, key: string): string {
  const schema = OPTIONS.get(key)
  assert(schema !== undefined, `no option is called ${key}`)
  return values.get(key) ?? schema.defaultText
}

/** Returns the default value of an option. Throws if the key is unknown. */
export const defaultOf = (key: string): string => optionValue(new Map(), key)

export const optionFlag = (values: ReadonlyMap<string, string>, key: string): boolean =>
  optionValue(values, key) === 'true'

export function optionInteger(values: ReadonlyMap<string, string>, key: string): number {
  const value = Number(optionValue(values, key))
  assert(Number.isSafeInteger(value), `option ${key} is not a whole number`)
  return value
}

/**
 * Returns the parsed JSON of an option. Do not use the numbers in the result, because `JSON.parse`
 * rounds ratios with many digits. `readPriceList` reads ratios exactly.
 */
export const optionJson = (values: ReadonlyMap<string, string>, key: string): unknown =>
  JSON.parse(optionValue(values, key))
