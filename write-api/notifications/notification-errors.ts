import { type ErrorCatalogue, errorsOf } from '#infra/http/http-errors.ts'

export const NOTIFICATION_ERRORS = {
  // The message is the same whatever is at the address, or it would map a private network.
  WebhookUrlInvalid: [
    200,
    {
      zh: 'Webhook 地址无效：仅支持 https 的公网地址',
      en: 'Not a webhook address: https and a public address, on port 443',
    },
  ],
  WebhookSecretInvalid: [
    200,
    {
      zh: '接口凭证（webhook_secret）无效：只能包含英文字母、数字和半角符号',
      en: 'Invalid webhook_secret: only printable ASCII characters, as it is sent in a header',
    },
  ],
} satisfies ErrorCatalogue<string>

export const notificationError = errorsOf(NOTIFICATION_ERRORS)
