import type { AuditTranslations } from '../translation-types.ts'
import { audit } from './audit.ts'
import { auditActs } from './audit-acts.ts'
import { auditEvents } from './audit-events.ts'
import { reconciliation } from './reconciliation.ts'

export const auditTranslations: AuditTranslations = {
  audit,
  auditActs,
  auditEvents,
  reconciliation,
}
