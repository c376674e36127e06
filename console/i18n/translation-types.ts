import type { auditTranslations } from './zh/audit-translations.ts'
import type { logDetails } from './zh/log-details.ts'
import type { pageTranslations } from './zh/page-translations.ts'
import type { zh } from './zh/translations-after-login.ts'

/**
 * The type of the Chinese texts, which defines the keys that every language must have. This type
 * also defines the placeholders of each text.
 */
export type ChineseTranslations = typeof zh &
  typeof pageTranslations &
  typeof auditTranslations & { logDetails: typeof logDetails }

/** The texts in one language. They have the same keys as the Chinese texts. */
export type Translations = Texts<ChineseTranslations>
export type TranslationsAfterLogin = Texts<typeof zh>
export type AuditTranslations = Texts<typeof auditTranslations>
export type PageTranslations = Texts<typeof pageTranslations>

type Texts<Source> = {
  readonly [Key in keyof Source]: Source[Key] extends string ? string : Texts<Source[Key]>
}
