import type { logDetails } from './zh/log-details.ts'
import type { pageWords } from './zh/page-words.ts'
import type { zh } from './zh/words.ts'

/** Every word of the console; Chinese is the source that the other languages must match. */
export type Words = SharedWords & PageWords & { logDetails: typeof logDetails }
export type SharedWords = typeof zh
export type PageWords = typeof pageWords
