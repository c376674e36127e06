import type { logDetails } from './zh/log-details.ts'
import type { pageWords } from './zh/page-translations.ts'
import type { zh } from './zh/translations.ts'

/** All texts of the console. The Chinese texts define the keys of every language. */
export type Words = SharedWords & PageWords & { logDetails: typeof logDetails }
export type SharedWords = typeof zh
export type PageWords = typeof pageWords
