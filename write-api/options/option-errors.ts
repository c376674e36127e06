import { OPTIONS } from '#domain/options/option-registry.ts'
import { type TranslatedText, translatedTextOf } from '#domain/shared/translated-text.ts'
import { type ErrorCatalogue, errorsOf } from '#infra/http/http-error-class-and-catalogue.ts'
import { optionTranslations as en } from '#read-api/contract/option-translations/en.ts'
import { optionTranslations as zh } from '#read-api/contract/option-translations/zh.ts'
import { validationMessage } from '../error-messages-for-invalid-values.ts'

const NUMBER_PROBLEMS = new Set<unknown>([
  'not-integer',
  'not-number',
  'below-minimum',
  'above-maximum',
])

/**
 * Returns the bounds and the unit of an option, for the message about an invalid value. Returns an
 * empty object if the error is not about a number, or if the option's value is not a number.
 */
function boundsOf(key: unknown, error: unknown) {
  const { type, unit = '' } = OPTIONS.get(String(key)) ?? {}
  if (!NUMBER_PROBLEMS.has(error)) return {}
  if (type?.kind !== 'integer' && type?.kind !== 'decimal') return {}
  return { minimum: type.minimum, maximum: type.maximum, unit }
}

/**
 * Returns the option's own message for values that are out of its bounds. Returns null if the
 * option has no such message.
 */
export const optionBoundsText = (key: string): TranslatedText | null =>
  translatedTextOf(zh.bounds, en.bounds, key)

export const OPTION_ERRORS = {
  UnknownOption: [
    400,
    ({ key = '' }) => ({ zh: `未知的选项：${key}`, en: `Unknown option: ${key}` }),
  ],
  InvalidOption: [
    400,
    ({ key = '', ...params }) => {
      const { zh, en } = validationMessage({ ...boundsOf(key, params.error), ...params })
      return { zh: `选项 ${key} 无效：${zh}`, en: `Invalid option ${key}: ${en}` }
    },
  ],
  PriceChangeUnknown: [
    404,
    { zh: '价格变更不存在或已结束', en: 'The price change does not exist or has ended' },
  ],
  PriceChangeEmpty: [200, { zh: '没有任何修改！', en: 'Nothing was changed' }],
  PriceChangeNotAhead: [
    200,
    { zh: '生效时间必须晚于现在', en: 'The effective time must be in the future' },
  ],
  PriceChangeTooFar: [
    200,
    ({ days = '' }) => ({
      zh: `生效时间不能晚于 ${days} 天之后`,
      en: `The effective time must be within ${days} days`,
    }),
  ],
  PriceChangeNotDue: [200, { zh: '价格变更尚未到期', en: 'The price change is not due yet' }],
  TooManyPriceChanges: [
    200,
    ({ limit = '' }) => ({
      zh: `价格变更不能超过 ${limit} 项`,
      en: `There can be at most ${limit} price changes`,
    }),
  ],
  OptionChanged: [
    200,
    {
      zh: '该设置已被他人修改，请核对后重新保存',
      en: 'This setting has been changed by someone else. Check it and save again',
    },
  ],
  OptionNotYours: [
    403,
    ({ key = '' }) => ({
      zh: `只有超级管理员可以修改选项 ${key}`,
      en: `Only a super admin can change the option ${key}`,
    }),
  ],
} satisfies ErrorCatalogue<string>

export const optionError = errorsOf(OPTION_ERRORS)
