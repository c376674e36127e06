import { FLAG, SECRET, text, URL_TEXT } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const TELEGRAM: OptionSection = {
  id: 'telegram',
  tab: 'system',
  title: { zh: 'Telegram 登录', en: 'Telegram login' },
  options: [
    {
      key: 'TelegramOAuthEnabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '允许通过 Telegram 登录', en: 'Log in by Telegram' },
    },
    {
      key: 'TelegramBotName',
      type: text(200),
      preset: '',
      access: 'root',
      label: { zh: 'Telegram Bot 名称', en: 'Telegram bot' },
    },
    {
      key: 'TelegramBotToken',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: 'Telegram Bot Token', en: 'Telegram bot token' },
    },
  ],
}

export const WECHAT: OptionSection = {
  id: 'wechat',
  tab: 'system',
  title: { zh: '微信登录', en: 'WeChat login' },
  options: [
    {
      key: 'WeChatAuthEnabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '允许通过微信登录与注册', en: 'Log in by WeChat' },
    },
    {
      key: 'WeChatServerAddress',
      type: URL_TEXT,
      isAsked: true,
      preset: '',
      access: 'root',
      label: { zh: 'WeChat Server 地址', en: 'WeChat server' },
    },
    {
      key: 'WeChatServerToken',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: 'WeChat Server 访问凭证', en: 'WeChat server token' },
    },
    {
      key: 'WeChatAccountQRCodeImageURL',
      type: URL_TEXT,
      preset: '',
      access: 'root',
      label: { zh: '微信公众号二维码图片链接', en: 'WeChat QR code' },
    },
  ],
}
