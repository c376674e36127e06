import type { logDetails } from './zh/log-details.ts'
import type { pageWords } from './zh/page-words.ts'
import type { zh } from './zh/words.ts'

/** All texts of the console; the Chinese texts define the keys of other languages. */
export type Words = SharedWords & PageWords & { logDetails: typeof logDetails }
export type SharedWords = typeof zh
export type PageWords = typeof pageWords
