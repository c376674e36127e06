import { audit } from './audit.ts'
import { auditActs } from './audit-act-names.ts'
import { auditEvents } from './other-event-names.ts'
import { reconciliation } from './reconciliation.ts'

/** The texts of the audit pages. They are loaded together with these pages. */
export const auditTranslations = { audit, auditActs, auditEvents, reconciliation }
