import {
  type ErrorCatalogue,
  errorsOf,
  UNKNOWN_OBJECTS,
} from '#infra/http/http-error-class-and-catalogue.ts'

export const MESSAGE_ERRORS = {
  MessageUnknown: [404, UNKNOWN_OBJECTS.message],
  MessageExists: [200, { zh: '消息已存在', en: 'The message already exists' }],
  MessageTitleRequired: [200, { zh: '请输入消息标题！', en: 'The title is required' }],
  MessageContentRequired: [200, { zh: '请输入消息内容！', en: 'The content is required' }],
  RecipientRequired: [200, { zh: '请至少选择一个接收者！', en: 'Choose at least one recipient' }],
  RecipientUnknown: [
    200,
    ({ ids = '' }) => ({ zh: `用户不存在：${ids}`, en: `These users do not exist: ${ids}` }),
  ],
  RecipientsScattered: [
    200,
    ({ limit = '' }) => ({
      zh: `接收者的编号过于分散（超过 ${limit} 段），请分批发送`,
      en: `The recipients’ ids form more than ${limit} ranges. Send the message in parts`,
    }),
  ],
} satisfies ErrorCatalogue<string>

export const messageError = errorsOf(MESSAGE_ERRORS)
