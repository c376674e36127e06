import type { AuditJobErrorCode } from '#domain/audit/decide-audit-jobs.ts'
import type { CorrectionErrorCode } from '#domain/corrections/decide.ts'
import type { ProviderInvoiceErrorCode } from '#domain/provider-invoices/decide.ts'
import { type ErrorCatalogue, errorsOf } from '#infra/http/http-error-class-and-catalogue.ts'

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

export const CORRECTION_ERRORS: ErrorCatalogue<CorrectionErrorCode> = {
  CorrectionRunning: [
    409,
    ({ id = '' }) => ({
      zh: `涉及相同请求的更正 ${id} 尚未完成，请稍后再试`,
      en: `Correction ${id}, which includes some of these calls, has not finished. Try again later`,
    }),
  ],
  CorrectionPreviewOutdated: [
    409,
    {
      zh: '预览之后数据已变化，请重新预览',
      en: 'Charges have changed since the preview. Preview the correction again',
    },
  ],
}

/**
 * Creates errors of corrections. The domain returns the errors in `CORRECTION_ERRORS`. The routes
 * detect all other errors.
 */
export const correctionError = errorsOf({
  ...CORRECTION_ERRORS,
  CorrectionTooLarge: [
    400,
    ({ max = 0 }) => ({
      zh: `涉及的请求过多（一次最多 ${max} 个），请缩短时间范围`,
      en: `Too many calls for one correction (at most ${max}). Choose a shorter range`,
    }),
  ],
  CorrectionOutOfRange: [
    400,
    {
      zh: '更正的总金额过大，请检查价格或缩短时间范围',
      en: 'The total of the correction is too large. Check the price or choose a shorter range',
    },
  ],
  CorrectionEmpty: [
    400,
    { zh: '没有费用会改变的请求', en: 'The correction would not change the charge of any call' },
  ],
  CorrectionUnfinished: [
    503,
    {
      zh: '部分账户暂时无法更正，系统会在后台继续完成',
      en: 'Some accounts could not be corrected yet. The correction continues in the background',
    },
  ],
  CallLogBehind: [
    503,
    { zh: '使用日志尚未更新，请稍后再试', en: 'The usage log is not up to date. Try again later' },
  ],
  CorrectedCallsBehind: [
    503,
    {
      zh: '更正后的费用尚未更新，请稍后再试',
      en: 'Corrected charges are not up to date. Try again later',
    },
  ],
} satisfies ErrorCatalogue<string>)

export const PROVIDER_INVOICE_ERRORS: ErrorCatalogue<ProviderInvoiceErrorCode> = {
  InvoiceKnown: [
    409,
    ({ id = '' }) => ({
      zh: `该文件已作为账单 ${id} 导入`,
      en: `This file was already imported as invoice ${id}`,
    }),
  ],
  InvoiceUnknown: [404, { zh: '该账单不存在', en: 'There is no such invoice' }],
  TooManyInvoices: [
    409,
    ({ max = 0 }) => ({
      zh: `最多保留 ${max} 份账单，请先删除旧账单`,
      en: `At most ${max} invoices are kept. Delete old ones first`,
    }),
  ],
  InvoiceRowsRemoved: [
    409,
    {
      zh: '导入中断过久，已记录的行已被清理，请重新导入',
      en: 'The import paused for too long, so its rows were removed. Import the file again',
    },
  ],
}

/** The messages for the problems that a row of an invoice file can have. */
const PROBLEMS = {
  'not-a-day': { zh: '不是 2026-11-28 这样的日期', en: 'not a day such as 2026-11-28' },
  'implausible-day': { zh: '早于 2020 年或在未来', en: 'before 2020 or in the future' },
  'not-a-name': { zh: '为空或不是名称', en: 'empty, or not a name' },
  'not-a-number': { zh: '不是数字，或有歧义', en: 'not a number, or ambiguous' },
  'too-large': { zh: '数值过大', en: 'too large' },
  'sum-too-large': { zh: '累计数值过大', en: 'the sum up to this row is too large' },
  'other-currency': { zh: '货币符号与所选货币不符', en: 'the sign of another currency' },
  'not-an-integer': { zh: '不是整数', en: 'not a whole number' },
  'not-an-id': { zh: '含控制字符', en: 'contains a control character' },
  'unclosed-quote': { zh: '引号没有闭合', en: 'a quote is not closed' },
  'field-too-long': { zh: '单元格过长', en: 'a cell is too long' },
  'too-many-columns': { zh: '列数过多', en: 'too many columns' },
} as const
export type RowProblem = keyof typeof PROBLEMS

/** Creates the errors of invoices that only the import route detects. */
export const providerInvoiceError = errorsOf({
  TooManyImports: [
    429,
    {
      zh: '正在导入另一个文件，请稍后再试',
      en: 'Another file is being imported, please try again later',
    },
  ],
  ReadModelBehind: [
    503,
    {
      zh: '账单数据处理滞后，请稍后再导入',
      en: 'The read model of invoices is behind. Import the file again later',
    },
  ],
  InvoiceStalled: [
    408,
    {
      zh: '文件上传中断，请重新导入',
      en: 'The upload of the file has stalled. Import the file again',
    },
  ],
  InvoiceEmpty: [400, { zh: '文件没有数据行', en: 'The file has no rows' }],
  InvoiceNotUtf8: [
    400,
    {
      zh: '文件不是 UTF-8 编码，请另存为 UTF-8 后重新导入',
      en: 'The file is not UTF-8. Save it as UTF-8, and import it again',
    },
  ],
  InvoiceTooLarge: [
    413,
    ({ max = 0 }) => ({
      zh: `文件过大：最多 50 MB、${max} 行`,
      en: `The file is too large: at most 50 MB and ${max} rows`,
    }),
  ],
  InvoiceTooVaried: [
    400,
    ({ max = 0 }) => ({
      zh: `日期与模型的组合超过 ${max} 个，请拆分文件`,
      en: `The file has more than ${max} pairs of day and model. Split it`,
    }),
  ],
  InvoiceTotalRow: [
    400,
    ({ row = 0 }) => ({
      zh: `第 ${row} 行是合计行，请删除后重新导入`,
      en: `Row ${row} is a total. Remove it, and import the file again`,
    }),
  ],
  InvoiceRowInvalid: [
    400,
    ({ row = 0, column = '', problem = '' }) => {
      const { zh, en } = PROBLEMS[problem as RowProblem]
      return {
        zh: `第 ${row} 行的 ${column} 无效：${zh}`,
        en: `Invalid ${column} in row ${row}: ${en}`,
      }
    },
  ],
} satisfies ErrorCatalogue<string>)
