import { auditTranslations as enAudit } from '#console/i18n/en/audit-translations.ts'
import { logDetails as enDetails } from '#console/i18n/en/log-details.ts'
import { pageTranslations as enPages } from '#console/i18n/en/page-translations.ts'
import { en as enShared } from '#console/i18n/en/translations-after-login.ts'
import type { Translations } from '#console/i18n/translation-types.ts'
import { auditTranslations as zhAudit } from '#console/i18n/zh/audit-translations.ts'
import { logDetails as zhDetails } from '#console/i18n/zh/log-details.ts'
import { pageTranslations as zhPages } from '#console/i18n/zh/page-translations.ts'
import { zh as zhShared } from '#console/i18n/zh/translations-after-login.ts'

type KeysOf<T, Prefix extends string = ''> = {
  [K in keyof T & string]: T[K] extends string ? `${Prefix}${K}` : KeysOf<T[K], `${Prefix}${K}.`>
}[keyof T & string]

/** The key of a text in the console, such as `tokens.create`. */
export type WordKey = KeysOf<Translations>

type Params = Readonly<Record<string, string | number>>

const ZH: Translations = { ...zhShared, ...zhPages, logDetails: zhDetails, ...zhAudit }
const EN: Translations = { ...enShared, ...enPages, logDetails: enDetails, ...enAudit }

/** Returns the Chinese text of a key. `params` fills the placeholders. */
export const zh = (key: WordKey, params: Params = {}): string => textOf(ZH, key, params)

/** Returns the English text of a key. `params` fills the placeholders. */
export const en = (key: WordKey, params: Params = {}): string => textOf(EN, key, params)

/** Returns the text of a key in one language. */
export type Text = typeof en

/** The functions above, by language. */
export const TEXTS: Readonly<Record<'zh' | 'en', Text>> = { zh, en }

/**
 * Matches the text of a key. A placeholder matches its parameter, or anything if it has none.
 */
export function textPattern(
  language: keyof typeof TEXTS,
  key: WordKey,
  params: Readonly<Record<string, string | number | RegExp>> = {},
): RegExp {
  const parts = sourceOf(language === 'zh' ? ZH : EN, key).split(PLACEHOLDER)
  const sources = parts.map((part, index) => {
    if (index % 2 === 0) return escaped(part)
    const param = params[part] ?? /.*/
    return param instanceof RegExp ? param.source : escaped(String(param))
  })
  return new RegExp(sources.join(''))
}

/** Matches what starts with a text, such as the label of a required field. */
export const startingWith = (text: string): RegExp => new RegExp(`^${escaped(text)}`)

/** Matches exactly one of the texts. */
export const oneOf = (...texts: readonly string[]): RegExp =>
  new RegExp(`^(?:${texts.map(escaped).join('|')})$`)

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const PLACEHOLDER = /\{\{\s*(\w+)[^}]*\}\}/g

const textOf = (translations: Translations, key: string, params: Params): string =>
  sourceOf(translations, key).replace(PLACEHOLDER, (_, name: string) => String(params[name]))

function sourceOf(translations: Translations, key: string): string {
  const text = valueAt(translations, key)
  if (typeof text !== 'string') throw new Error(`the console has no text ${key}`)
  return text
}

/** Names of options contain dots, so a property can be named by several parts of the key. */
function valueAt(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, inner] of Object.entries(value)) {
    if (key === name) return inner
    const found = key.startsWith(`${name}.`)
      ? valueAt(inner, key.slice(name.length + 1))
      : undefined
    if (found !== undefined) return found
  }
  return undefined
}
