import { type ErrorCatalogue, errorsOf } from '#infra/http/http-error-class-and-catalogue.ts'

export const REDEMPTION_ERRORS = {
  CodeRequired: [200, { zh: '请输入兑换码！', en: 'Enter a redemption code' }],
  CodeInvalid: [200, { zh: '无效或已被使用的兑换码', en: 'Invalid or used redemption code' }],
  CodeNotYetValid: [200, { zh: '兑换码尚未生效', en: 'This redemption code is not valid yet' }],
  CodeExpired: [200, { zh: '兑换码已过期', en: 'This redemption code has expired' }],
  CodeRedeemedAlready: [
    200,
    { zh: '您已使用过该兑换码', en: 'You have already used this redemption code' },
  ],
  CodeUsedUp: [
    200,
    { zh: '该兑换码已达到最大使用次数', en: 'This redemption code has been used up' },
  ],
  CodeChanged: [
    200,
    { zh: '兑换码刚被修改，请重试', en: 'This redemption code was just changed. Try again' },
  ],
  RedemptionUnknown: [404, { zh: '兑换码不存在', en: 'The redemption code does not exist' }],
  RedemptionKeyTaken: [
    200,
    { zh: '该自定义兑换码已存在', en: 'A redemption code with this key already exists' },
  ],
  RedemptionIdTaken: [200, { zh: '兑换码已存在', en: 'The redemption code already exists' }],
  RedemptionsMade: [
    200,
    { zh: '兑换码已生成', en: 'The redemption codes have already been created' },
  ],
  RequestKeyReused: [
    422,
    {
      zh: '该 Idempotency-Key 已用于其他请求。',
      en: 'This Idempotency-Key was already used for another request.',
    },
  ],
  RedemptionNotEditable: [
    200,
    { zh: '只有已启用的兑换码可以编辑', en: 'Only an enabled redemption code can be edited' },
  ],
  RedemptionUsed: [
    200,
    {
      zh: '已使用的兑换码不能启用或禁用',
      en: 'A used redemption code cannot be enabled or disabled',
    },
  ],
  RedemptionNameRequired: [
    200,
    { zh: '兑换码名称不能为空', en: 'The name of the redemption code is required' },
  ],
  RedemptionNameLength: [
    200,
    {
      zh: '兑换码名称长度必须在1-20之间',
      en: 'The name of a redemption code must have 1 to 20 characters',
    },
  ],
  RedemptionQuotaTooSmall: [
    200,
    { zh: '兑换码额度必须大于0', en: 'The quota of a redemption code must be above 0' },
  ],
  MaxUsesTooFew: [
    200,
    ({ least = '' }) => ({
      zh: `最大使用次数不能小于 ${least}（-1 表示不限）`,
      en: `The maximum number of uses must be at least ${least} (-1: no limit)`,
    }),
  ],
  GiftInUse: [
    200,
    {
      zh: '已有用户使用的礼品码不能改为普通兑换码',
      en: 'A gift code that has been used cannot become an ordinary code',
    },
  ],
  ValidityOrder: [
    200,
    { zh: '生效时间必须早于过期时间', en: 'The start of validity must be before the expiry' },
  ],
  RedemptionCountTooSmall: [
    200,
    { zh: '兑换码个数必须大于0', en: 'The number of redemption codes must be above 0' },
  ],
  RedemptionCountTooLarge: [
    200,
    ({ max = '' }) => ({
      zh: `一次兑换码批量生成的个数不能大于 ${max}`,
      en: `At most ${max} redemption codes can be generated at once`,
    }),
  ],
  OneKeyOneCode: [
    200,
    { zh: '自定义兑换码时只能生成一个', en: 'A custom key is possible for one code only' },
  ],
  RedemptionKeyTooShort: [
    200,
    ({ least = '' }) => ({
      zh: `自定义兑换码至少需要 ${least} 个字符`,
      en: `A custom key must have at least ${least} characters`,
    }),
  ],
  NoRedemptionChosen: [
    200,
    { zh: '请至少选择一个兑换码！', en: 'Select at least one redemption code' },
  ],
} satisfies ErrorCatalogue<string>

export const redemptionError = errorsOf(REDEMPTION_ERRORS)
