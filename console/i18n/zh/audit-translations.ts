import { audit } from './audit.ts'
import { auditActs } from './audit-acts.ts'
import { auditEvents } from './audit-events.ts'
import { reconciliation } from './reconciliation.ts'

/** The texts of the audit pages. They are loaded together with these pages. */
export const auditTranslations = { audit, auditActs, auditEvents, reconciliation }
