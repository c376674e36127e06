import { type ErrorCatalogue, errorsOf } from '#infra/http/http-error-class-and-catalogue.ts'

export const TOP_UP_ERRORS = {
  TopUpClosed: [
    200,
    { zh: '管理员未开启在线充值！', en: 'The administrator has not enabled online top-up' },
  ],
  PaymentMethodClosed: [
    200,
    { zh: '管理员未开启该支付方式', en: 'The administrator has not enabled this payment method' },
  ],
  TopUpTooSmall: [
    200,
    ({ least = '' }) => ({
      zh: `充值数量不能小于${least}`,
      en: `The amount must be at least ${least}`,
    }),
  ],
  TopUpTooLarge: [200, { zh: '充值数量过大', en: 'The amount is too large' }],
  TopUpCodeUnknown: [200, { zh: '充值码无效', en: 'The top-up code is invalid' }],
  PaymentAddressRequired: [
    200,
    {
      zh: '管理员尚未填写服务器地址，无法在线充值',
      en: 'Online payment needs a server address, which the administrator has not set',
    },
  ],
  PaymentProviderFailed: [
    200,
    {
      zh: '支付服务商未响应，请稍后再试',
      en: 'The payment provider did not respond. Try again later',
    },
  ],
  RefundReasonRequired: [200, { zh: '请填写退款原因！', en: 'Enter the reason for the refund' }],
  TopUpUnknown: [404, { zh: '充值订单不存在', en: 'The order does not exist' }],
  TopUpExists: [200, { zh: '充值订单已存在', en: 'The order already exists' }],
  TopUpMismatch: [200, { zh: '支付信息与订单不符', en: 'The payment does not match the order' }],
  TopUpPaidAlready: [200, { zh: '订单已支付', en: 'The order is already paid' }],
  TopUpNotPaid: [200, { zh: '订单尚未支付', en: 'The order has not been paid' }],
  RefundOutOfRange: [
    200,
    ({ left = '' }) => ({
      zh: `退款金额必须大于 0 且不超过 ${left}，最多两位小数`,
      en: `The refund must be above 0 and at most ${left}, with at most two decimals`,
    }),
  ],
  RefundedMeanwhile: [
    200,
    {
      zh: '该订单刚刚被他人退款，请核对后重试',
      en: 'This order was just refunded by someone else. Check it and try again',
    },
  ],
} satisfies ErrorCatalogue<string>

export const topUpError = errorsOf(TOP_UP_ERRORS)
