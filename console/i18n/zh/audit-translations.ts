import { audit } from './audit.ts'
import { auditActs } from './audit-acts.ts'
import { auditEvents } from './audit-events.ts'
import { reconciliation } from './reconciliation.ts'

/** The texts of the audit section. They load with its pages. */
export const auditTranslations = { audit, auditActs, auditEvents, reconciliation }
