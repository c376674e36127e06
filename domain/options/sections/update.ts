import { FLAG, URL_TEXT } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const UPDATE: OptionSection = {
  id: 'update',
  tab: 'other',
  title: { zh: '检查更新', en: 'Update check' },
  lead: {
    zh: '只读取下面的地址，不发送任何关于本站的信息。',
    en: 'Reads the address below and sends nothing about this site.',
  },
  options: [
    {
      key: 'UpdateCheckUrl',
      type: URL_TEXT,
      isAsked: true,
      preset: '',
      access: 'root',
      label: { zh: '最新版本的地址', en: 'Address of the latest release' },
      help: {
        zh: '返回 JSON，其中 tag_name 为版本号，body 为更新说明。',
        en: 'Answers JSON with tag_name (the version) and body (what is new).',
      },
    },
    {
      key: 'UpdateCheckEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '打开系统设置时自动检查', en: 'Check when the settings are opened' },
      help: { zh: '每天至多一次。', en: 'Once a day at most.' },
    },
  ],
}
