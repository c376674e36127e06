import { FLAG, integer, text } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const GLOBAL: OptionSection = {
  id: 'global',
  tab: 'models',
  title: { zh: '全局设置', en: 'Global settings' },
  lead: { zh: '对所有渠道生效。', en: 'For all channels.' },
  options: [
    {
      key: 'global.pass_through_request_enabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '启用请求透传', en: 'Pass requests through' },
      help: {
        zh: '请求按读取结果重新序列化后转发：不应用渠道的参数覆盖，模型映射照常生效。',
        en: 'Requests go on as they were read: no overrides of channels; models stay mapped.',
      },
    },
    {
      key: 'global.hide_upstream_error_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '隐藏上游错误详情', en: 'Hide the words of providers’ errors' },
      help: { zh: '调用方只看到通用的错误信息。', en: 'Callers see a general error instead.' },
    },
    {
      key: 'global.rate_limit_exempt_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '速率限制豁免一个分组', en: 'Exempt a group from rate limits' },
    },
    {
      key: 'global.rate_limit_exempt_group',
      type: text(200),
      preset: 'bulk-ok',
      label: { zh: '豁免速率限制的分组', en: 'Group without rate limits' },
    },
    {
      key: 'global.safe_check_exempt_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '敏感词检查豁免一个分组', en: 'Exempt a group from the word check' },
    },
    {
      key: 'global.safe_check_exempt_group',
      type: text(200),
      preset: 'nsfw-ok',
      label: { zh: '豁免敏感词检查的分组', en: 'Group without the word check' },
    },
    {
      key: 'general_setting.ping_interval_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '流式空闲时发送心跳', en: 'Keep quiet streams alive' },
      help: {
        zh: '防止中间代理断开等待中的连接。',
        en: 'So that proxies in between don’t cut a stream that waits.',
      },
    },
    {
      key: 'general_setting.ping_interval_seconds',
      type: integer(1, 3_600),
      preset: '60',
      unit: 'second',
      label: { zh: '心跳间隔', en: 'Ping interval' },
    },
    {
      key: 'global.block_browser_extension_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '拒绝浏览器扩展的请求', en: 'Refuse browser extensions' },
      help: { zh: '按 Origin 识别浏览器扩展。', en: 'Known by their Origin.' },
    },
  ],
}
