import { en as enShared } from '#console/i18n/en/console-translations.ts'
import { logDetails as enDetails } from '#console/i18n/en/log-details.ts'
import { pageTranslations as enPages } from '#console/i18n/en/on-demand-translations.ts'
import type { Translations } from '#console/i18n/translation-types.ts'
import { zh as zhShared } from '#console/i18n/zh/console-translations.ts'
import { logDetails as zhDetails } from '#console/i18n/zh/log-details.ts'
import { pageTranslations as zhPages } from '#console/i18n/zh/on-demand-translations.ts'

type KeysOf<T, Prefix extends string = ''> = {
  [K in keyof T & string]: T[K] extends string ? `${Prefix}${K}` : KeysOf<T[K], `${Prefix}${K}.`>
}[keyof T & string]

/** The key of a text in the console, such as `tokens.create`. */
export type WordKey = KeysOf<Translations>

type Params = Readonly<Record<string, string | number>>

const ZH: Translations = { ...zhShared, ...zhPages, logDetails: zhDetails }
const EN: Translations = { ...enShared, ...enPages, logDetails: enDetails }

/** Returns the Chinese text of a key. `params` fills the placeholders. */
export const zh = (key: WordKey, params: Params = {}): string => textOf(ZH, key, params)

/** Returns the English text of a key. `params` fills the placeholders. */
export const en = (key: WordKey, params: Params = {}): string => textOf(EN, key, params)

/** Returns the text of a key in one language. */
export type Text = typeof en

/** The functions above, by language. */
export const TEXTS: Readonly<Record<'zh' | 'en', Text>> = { zh, en }

function textOf(words: Translations, key: string, params: Params): string {
  const text = key
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], words)
  if (typeof text !== 'string') throw new Error(`the console has no text ${key}`)
  return text.replace(/\{\{\s*(\w+)[^}]*\}\}/g, (_, name: string) => String(params[name]))
}
