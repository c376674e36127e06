import type { AuditTranslations } from '../translation-types.ts'
import { audit } from './audit.ts'
import { auditActs } from './audit-act-names.ts'
import { auditEvents } from './other-event-names.ts'
import { reconciliation } from './reconciliation.ts'

export const auditTranslations: AuditTranslations = {
  audit,
  auditActs,
  auditEvents,
  reconciliation,
}
