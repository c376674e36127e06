import type { AuditJobErrorCode } from '#domain/audit/decide.ts'
import type { ErrorCatalogue } from '#infra/http/http-errors.ts'

export const AUDIT_JOB_ERRORS: ErrorCatalogue<AuditJobErrorCode> = {
  VerificationRunning: [
    409,
    { zh: '正在进行另一次校验', en: 'Another verification is still running' },
  ],
  RebuildRunning: [409, { zh: '正在进行另一次重建', en: 'Another rebuild is still running' }],
  NothingToNotify: [409, { zh: '没有需要通知的问题', en: 'There is nothing to notify of' }],
}
