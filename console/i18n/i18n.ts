import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import type { zh } from './zh/words.ts'

export const LANGUAGES = ['zh', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** Every word of the console; Chinese is the source that the other languages must match. */
export type Words = typeof zh

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'words'
    resources: { words: Words }
  }
}

const STORAGE_KEY = 'i18nextLng'
const LOCALES: Record<Language, string> = { zh: 'zh-CN', en: 'en' }

type Loaders = { readonly entry: () => Promise<Partial<Words>>; readonly all: () => Promise<Words> }

const loaders: Record<Language, Loaders> = {
  zh: {
    entry: async () => (await import('./zh/entry-words.ts')).entryWords,
    all: async () => (await import('./zh/words.ts')).zh,
  },
  en: {
    entry: async () => (await import('./en/entry-words.ts')).entryWords,
    all: async () => (await import('./en/words.ts')).en,
  },
}

let needed: keyof Loaders = 'entry'

export const currentLanguage = (): Language => (i18next.language === 'en' ? 'en' : 'zh')

/** The BCP 47 tag for `Intl` and `<html lang>`. */
export const localeOf = (language: Language): string => LOCALES[language]

/** For code outside components; inside, use `useTranslation`. */
export const translate = i18next.t

/** The console's own pages need every word: called before the first of them is drawn. */
export async function needAllWords(): Promise<void> {
  needed = 'all'
  await load(currentLanguage())
}

/**
 * Starts with the stored language, else the browser's, else Chinese. Loads that language only, and
 * of it what the pages before the login need.
 */
export async function startI18n(): Promise<void> {
  const language = firstLanguage(localStorage.getItem(STORAGE_KEY), navigator.languages)
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: 'zh',
    ns: ['words'],
    defaultNS: 'words',
    resources: { [language]: { words: await loaders[language].entry() } },
    partialBundledLanguages: true,
    interpolation: { escapeValue: false },
    returnNull: false,
  })
  document.documentElement.lang = LOCALES[language]
}

export async function changeLanguage(language: Language): Promise<void> {
  await load(language)
  await i18next.changeLanguage(language)
  localStorage.setItem(STORAGE_KEY, language)
  document.documentElement.lang = LOCALES[language]
}

async function load(language: Language): Promise<void> {
  i18next.addResourceBundle(language, 'words', await loaders[language][needed](), true, true)
}

export function firstLanguage(stored: string | null, wanted: readonly string[]): Language {
  for (const tag of stored === null ? wanted : [stored, ...wanted]) {
    const language = LANGUAGES.find((known) => tag.toLowerCase().startsWith(known))
    if (language !== undefined) return language
  }
  return 'zh'
}
