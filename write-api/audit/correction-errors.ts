import type { CorrectionErrorCode } from '#domain/corrections/events.ts'
import { type ErrorCatalogue, errorsOf } from '#infra/http/http-errors.ts'

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
 * Creates errors of corrections. The codes in `CORRECTION_ERRORS` come from the domain. Only the
 * routes detect the other errors.
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
