import type { logDetails } from './zh/log-details.ts'
import type { pageTranslations } from './zh/page-translations.ts'
import type { zh } from './zh/translations.ts'

/** The Chinese texts define the keys of every language. */
export type Translations = SharedTranslations & PageTranslations & { logDetails: typeof logDetails }
export type SharedTranslations = typeof zh
export type PageTranslations = typeof pageTranslations
