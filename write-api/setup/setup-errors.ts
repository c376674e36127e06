import { type ErrorCatalogue, errorsOf } from '#infra/http/http-error-class-and-catalogue.ts'

export const SETUP_ERRORS = {
  AlreadyInitialized: [200, { zh: '系统已经初始化完成', en: 'The system is already initialised' }],
  SetupTokenRequired: [
    200,
    {
      zh: '从其他设备初始化需要启动时打印的一次性令牌',
      en: 'Setup from another machine requires the one-time token that is printed at start',
    },
  ],
} satisfies ErrorCatalogue<string>

export const setupError = errorsOf(SETUP_ERRORS)
