import { FLAG, URL_TEXT } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const SITE: OptionSection = {
  id: 'site',
  tab: 'system',
  title: { zh: '站点', en: 'Site' },
  lead: { zh: '对外地址与使用模式。', en: 'Its address and how it is used.' },
  options: [
    {
      key: 'ServerAddress',
      type: URL_TEXT,
      preset: '',
      access: 'root',
      label: { zh: '服务器地址', en: 'Public address' },
      help: {
        zh: '接入代码中使用的对外地址，留空则用当前地址。',
        en: 'Used in snippets and links; empty: the address in the browser.',
      },
    },
    {
      key: 'SelfUseModeEnabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '自用模式', en: 'Self-use mode' },
      help: {
        zh: '隐藏注册入口；没有价格的模型按倍率 37.5 计费。',
        en: 'Registration is not offered; models without a price are charged at ratio 37.5.',
      },
    },
    {
      key: 'DemoSiteEnabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '演示站点模式', en: 'Demo site' },
    },
  ],
}
