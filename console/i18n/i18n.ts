import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import type { ChineseTranslations, Translations } from './translation-types.ts'

export const LANGUAGES = ['zh', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'texts'
    resources: { texts: ChineseTranslations }
  }
}

const STORAGE_KEY = 'i18nextLng'
const LOCALES: Record<Language, string> = { zh: 'zh-CN', en: 'en' }

type TextPart = 'entry' | 'all' | 'pages' | 'logDetails' | 'audit'
type Loaders = Readonly<Record<TextPart, () => Promise<Partial<Translations>>>>

const loaders: Record<Language, Loaders> = {
  zh: {
    entry: async () => (await import('./zh/translations-before-login.ts')).translationsBeforeLogin,
    all: async () => (await import('./zh/translations-after-login.ts')).zh,
    pages: async () => (await import('./zh/page-translations.ts')).pageTranslations,
    logDetails: async () => {
      const { logDetails } = await import('./zh/log-details.ts')
      return { logDetails }
    },
    audit: async () => (await import('./zh/audit-translations.ts')).auditTranslations,
  },
  en: {
    entry: async () => (await import('./en/translations-before-login.ts')).translationsBeforeLogin,
    all: async () => (await import('./en/translations-after-login.ts')).en,
    pages: async () => (await import('./en/page-translations.ts')).pageTranslations,
    logDetails: async () => {
      const { logDetails } = await import('./en/log-details.ts')
      return { logDetails }
    },
    audit: async () => (await import('./en/audit-translations.ts')).auditTranslations,
  },
}

const needed = new Set<TextPart>(['entry'])

export const currentLanguage = (): Language => (i18next.language === 'en' ? 'en' : 'zh')

/** Returns the BCP 47 tag of a language, for `Intl` and `<html lang>`. */
export const localeOf = (language: Language): string => LOCALES[language]

/**
 * Returns a translated text outside of components. Components use `useTranslation`, so that they
 * are rendered again when the language changes.
 */
export const translate = i18next.t

/**
 * Loads the texts of all pages of the console, except for those that are loaded together with their
 * pages.
 */
export async function loadAllTranslations(): Promise<void> {
  needed.delete('entry')
  needed.add('all')
  await load(currentLanguage())
}

export async function loadTranslations(part: 'pages' | 'logDetails' | 'audit'): Promise<void> {
  needed.add(part)
  await load(currentLanguage())
}

/**
 * Starts i18next with the texts of `translationsBeforeLogin` in the selected language. A text that
 * is missing in this language is shown in Chinese if the Chinese texts have been loaded.
 */
export async function startI18n(): Promise<void> {
  const language = firstLanguage(localStorage.getItem(STORAGE_KEY), navigator.languages)
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: 'zh',
    ns: ['texts'],
    defaultNS: 'texts',
    resources: { [language]: { texts: await loaders[language].entry() } },
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
  const parts = await Promise.all([...needed].map((part) => loaders[language][part]()))
  for (const texts of parts) i18next.addResourceBundle(language, 'texts', texts, true, true)
}

function firstLanguage(stored: string | null, preferred: readonly string[]): Language {
  for (const tag of stored === null ? preferred : [stored, ...preferred]) {
    const language = LANGUAGES.find((candidate) => tag.toLowerCase().startsWith(candidate))
    if (language !== undefined) return language
  }
  return 'zh'
}
