import type { auditTranslations } from './zh/audit-translations.ts'
import type { zh } from './zh/console-translations.ts'
import type { logDetails } from './zh/log-details.ts'
import type { pageTranslations } from './zh/on-demand-translations.ts'

/**
 * The type of the Chinese texts. They define which keys every language has, and which placeholders
 * each text has.
 */
export type ChineseTranslations = typeof zh &
  typeof pageTranslations &
  typeof auditTranslations & { logDetails: typeof logDetails }

/** The texts of one language, with the keys of the Chinese texts. */
export type Translations = Texts<ChineseTranslations>
export type SharedTranslations = Texts<typeof zh>
export type AuditTranslations = Texts<typeof auditTranslations>
export type PageTranslations = Texts<typeof pageTranslations>

type Texts<Source> = {
  readonly [Key in keyof Source]: Source[Key] extends string ? string : Texts<Source[Key]>
}
