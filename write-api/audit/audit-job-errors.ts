import type { AuditJobErrorCode } from '#domain/audit/decide-audit-jobs.ts'
import type { ErrorCatalogue } from '#infra/http/http-errors.ts'

export const AUDIT_JOB_ERRORS: ErrorCatalogue<AuditJobErrorCode> = {
  VerificationRunning: [
    409,
    { zh: '正在进行另一次核验', en: 'Another verification is still running' },
  ],
  RebuildRunning: [409, { zh: '正在进行另一次重建', en: 'Another rebuild is still running' }],
  TooManyScratchCopies: [
    409,
    ({ max = 0 }) => ({
      zh: `最多同时保留 ${max} 个临时副本，请先删除一个`,
      en: `There can be at most ${max} scratch copies: delete one first`,
    }),
  ],
  TooManyOwnScratchCopies: [
    409,
    ({ max = 0 }) => ({
      zh: `每位审计员最多同时保留 ${max} 个临时副本，请先删除自己的副本`,
      en: `The number of scratch copies that you may have is ${max}: delete yours first`,
    }),
  ],
  RefusalUnknown: [404, { zh: '该拒签记录不存在', en: 'There is no such refusal' }],
  NothingToNotify: [409, { zh: '没有需要通知的问题', en: 'There is nothing to notify of' }],
}
