import { type ErrorCatalogue, errorsOf } from '#infra/http/http-errors.ts'

export const NOTIFICATION_ERRORS = {
  // The message is the same for all addresses, so that it does not reveal which hosts exist in the
  // private network.
  WebhookUrlInvalid: [
    200,
    {
      zh: 'Webhook 地址无效：仅支持 https 的公网地址',
      en: 'Invalid webhook URL: it must use https, a public address and port 443',
    },
  ],
  WebhookSecretInvalid: [
    200,
    {
      zh: '接口凭证（webhook_secret）无效：只能包含英文字母、数字和半角符号',
      en: 'Invalid webhook_secret: it must consist of printable ASCII characters',
    },
  ],
} satisfies ErrorCatalogue<string>

export const notificationError = errorsOf(NOTIFICATION_ERRORS)
