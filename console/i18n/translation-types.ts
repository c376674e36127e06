import type { zh } from './zh/console-translations.ts'
import type { logDetails } from './zh/log-details.ts'
import type { pageTranslations } from './zh/on-demand-translations.ts'

/** The Chinese texts define the keys of every language. */
export type Translations = SharedTranslations & PageTranslations & { logDetails: typeof logDetails }
export type SharedTranslations = typeof zh
export type PageTranslations = typeof pageTranslations
